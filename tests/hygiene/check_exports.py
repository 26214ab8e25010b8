#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what an injected library exports and needs. Exits 1 and names each deviation.

check_exports.py LIBRARY --exports NAME... [--may-export NAME...] --needed FILE...
    [--may-need FILE...] [--weak NAME...] [--max-bytes N]

Besides the lists: no text relocations, no executable stack, never unloaded (-z nodelete), all
symbols bound at start, no symbol of unique binding, and no initial value of a thread-local
variable but zero (glibc may miss a thread that starts while the library is loaded).
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile


def readelf(library, *options):
    return subprocess.run(["readelf", "-W", *options, library], capture_output=True, text=True,
                          check=True).stdout


def exported(library):
    """Names and bindings of the defined dynamic symbols that other objects can bind to."""
    names = {}
    for line in readelf(library, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":") or fields[6] == "UND":
            continue
        binding, visibility, name = fields[4], fields[5], fields[7]
        if binding != "LOCAL" and visibility in ("DEFAULT", "PROTECTED"):
            names[name.split("@")[0]] = binding
    return names


def strongly_undefined(library):
    """Names that a loader has to find somewhere before the program starts."""
    rows = (line.split() for line in readelf(library, "--dyn-syms").splitlines())
    return {row[7].split("@")[0] for row in rows
            if len(row) >= 8 and row[6] == "UND" and row[4] == "GLOBAL"}


def stripped_bytes(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "stripped.so"
        subprocess.run(["strip", "-o", copy, library], check=True)
        return copy.stat().st_size


def deviations(options):
    found = exported(options.library)
    dynamic = readelf(options.library, "-d")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    for name in sorted(set(options.exports) - set(found)):
        yield f"does not export {name}"
    for name in sorted(set(found) - set(options.exports) - set(options.may_export)):
        yield f"exports {name}, which is not an entry point"
    for name in sorted(name for name, binding in found.items() if binding == "UNIQUE"):
        yield f"{name} has unique binding"
    for name in sorted(set(options.needed) - needed):
        yield f"does not need {name}"
    for name in sorted(needed - set(options.needed) - set(options.may_need)):
        yield f"needs {name}, which may not be in somebody's process"
    for name in sorted(set(options.weak) & strongly_undefined(options.library)):
        yield f"needs {name}, which not every C library has: refer to it weakly"
    if "TEXTREL" in dynamic:
        yield "has text relocations"
    if "NODELETE" not in dynamic:
        yield "may be unloaded; link it with -z nodelete"
    if "NOW" not in dynamic:
        yield "binds symbols lazily; link it with -z now"
    for line in readelf(options.library, "-l").splitlines():
        if "GNU_STACK" in line and "E" in line.split()[-2]:
            yield "asks for an executable stack"
        if line.split()[:1] == ["TLS"] and int(line.split()[4], 16) != 0:
            yield "has thread-local variables that do not begin as zero"
    if options.max_bytes is not None:
        size = stripped_bytes(options.library)
        if size > options.max_bytes:
            yield f"has {size} bytes stripped, at most {options.max_bytes}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--exports", nargs="+", required=True)
    parser.add_argument("--may-export", nargs="+", default=[])
    parser.add_argument("--needed", nargs="+", required=True)
    parser.add_argument("--may-need", nargs="+", default=[])
    parser.add_argument("--weak", nargs="+", default=[])
    parser.add_argument("--max-bytes", type=int)
    options = parser.parse_args()
    found = list(deviations(options))
    for line in found:
        print(f"{options.library}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
