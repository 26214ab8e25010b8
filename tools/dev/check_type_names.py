#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what is linked into one program gives each type's name to one type.

Two types of one name in one namespace break the one definition rule: the linker keeps the inline
functions of either. No compiler sees it, one translation unit knows one of the two.

check_type_names.py ROOT
"""
import collections
import pathlib
import re
import sys

# Rooms whose code comes together in one program or library.
PROGRAMS = [["proto", "libprofiler", "cupti_hooks"], ["proto", "analysis", "tools"]]
SUFFIXES = {".h", ".hpp", ".cc"}
NAMESPACE = re.compile(r"^namespace ?([\w:]*) ?\{$")
NAMESPACE_END = re.compile(r"^\}  // namespace")
# As the formatter leaves it, at the left margin; not a specialization, which has its own `<`.
TYPE = re.compile(r"^(?:template <[^{;]*> ?)?(?:struct|class|union|enum|enum class) "
                  r"(?:alignas\([^)]*\) |\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;]*)? \{")


def types_of(path):
    """Yields the line number and full name of each type that other files could name."""
    open_namespaces = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if entered := NAMESPACE.match(line):
            open_namespaces.append(entered.group(1))
        elif NAMESPACE_END.match(line):
            open_namespaces.pop()
        elif (found := TYPE.match(line)) and "" not in open_namespaces:
            yield number, "::".join(open_namespaces + [found.group(1)])


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    failed = False
    for rooms in PROGRAMS:
        places = collections.defaultdict(set)
        for room in rooms:
            for path in sorted((root / room).rglob("*")):
                if path.suffix not in SUFFIXES:
                    continue
                for number, name in types_of(path):
                    places[name].add(f"{path.relative_to(root)}:{number}")
        if not places:
            sys.exit(f"no type found in {rooms}: expected some under {root}")
        for name, where in sorted(places.items()):
            if len(where) > 1:
                print(f"{name} names {len(where)} types: {', '.join(sorted(where))}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
