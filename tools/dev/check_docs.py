#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the documentation says of the code: check_docs.py [ROOT]. Exits 1 and names each violation.

Each module has a README. A source file that a page names in backticks is there, and so is what a link
leads to. A number that is followed by the name of a constant, as in 131,072 (`kSize`), is that constant's
value; units are KiB, MiB, us, ms and s. In a table whose last column is `shown by`, each row names a test
that is there, or says `no test:` and why.
Prose wraps at 100 columns.
"""
import pathlib
import re
import sys

import check_layering

WITHOUT_README = {"examples", "bench"}  # their parts have one, or none is needed
# Pages from before the rule; none is added.
WIDE = {"README.md", "CHANGELOG.md", "docs/formats.md", "docs/injection_safety.md",
        "docs/python.md", "docs/report.md", "docs/tables.md",
        "docs/testing.md", "analysis/naming/README.md"}
COLUMNS = 100
NOT_OURS = {"train.py", "Python.h", "cuda.h", "sqlite3.h"}  # of users and of others

SOURCE = re.compile(r"`([\w./-]+\.(?:h|hpp|cc|c|cu|in|proto|py|sh|ts|mjs|md))`")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
NUMBER = re.compile(r"(\d[\d,]*) ?(KiB|MiB|us|ms|s)?\s+\(`(?:\w+::)?(k[A-Z]\w*)`")
CONSTANT = re.compile(r"constexpr ([\w:<> ]+?) (k[A-Z]\w*)\s*(?:=\s*([^;]+)|\{([^}]+)\});")
TEST_PROGRAM = re.compile(r"`((?:page|hygiene)_\w+|\w+_(?:test|bench|matrix|fuzz)(?:_\w+)?)`")
CASES = re.compile(r"`[^`]*_test`,? ([a-z][\w' ,-]*)")  # by what they do: of lifecycle_test and its like
TEST_NAME = re.compile(r"\b((?:[A-Z][a-z0-9]*){3,})")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "us": 10**3, "ms": 10**6, "s": 10**9}
DURATIONS = {"milliseconds": 10**6, "seconds": 10**9}


def files(root, *patterns):
    """Without what is built, and without other people's."""
    left_out = {"build", "node_modules", ".git"}
    for pattern in patterns:
        for path in sorted(root.rglob(pattern)):
            if not left_out & set(path.relative_to(root).parts) and path.is_file():
                yield path


def value_of(kind, text):
    """The value of a constant as a number, in bytes or ns; None where it is no plain number."""
    text = re.sub(r"(?:\w+_t|size_t)\{(\w+)\}", r"\1", text.split("//")[0].replace("'", ""))
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).strip()
    text = re.sub(r"\b0(\d)", r"0o\1", text)
    if not re.fullmatch(r"[\d\soxa-fA-F+*<>()-]+", text):
        return None
    scale = next((factor for name, factor in DURATIONS.items() if kind.endswith("::" + name)), 1)
    text = re.sub(r"\b0([0-7]+)\b", r"0o\1", text)
    return eval(text, {"__builtins__": {}}) * scale  # pylint: disable=eval-used  # digits and operators


def constants(root):
    """Every value that a constant of each name has somewhere."""
    values: dict[str, set[int]] = {}
    for room in ("proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools"):
        for path in files(root / room, "*.h", "*.cc"):
            for kind, name, assigned, braced in CONSTANT.findall(path.read_text(errors="replace")):
                value = value_of(kind, assigned or braced)
                if value is not None:
                    values.setdefault(name, set()).add(value)
    return values


class Tree:
    """What there is to be named."""

    def __init__(self, root):
        self.root = root
        self.pages = list(files(root, "*.md"))
        self.sources = ["/" + path.relative_to(root).as_posix() for path in files(root, "*")]
        self.constants = constants(root)
        self.tests = "".join(path.read_text(errors="replace") for path in
                             [*files(root / "tests", "*.cc", "*.py"), *files(root, "CMakeLists.txt", "*.cmake")])

    def has_source(self, name):
        return any(path.endswith("/" + name) for path in self.sources)

    def has_test(self, name):
        """A program, or words with which the name of a case begins. ROOM_NAME_test may be made by a loop over
        NAME; its file is NAME_test.cc."""
        if TEST_NAME.fullmatch(name):
            return name in self.tests
        for prefix, maker in (("hygiene_exports_", "exports_test"), ("hygiene_", "hygiene_test")):
            if name.startswith(prefix):
                return f"{maker}({name[len(prefix):]} " in self.tests.replace("\n", " ")
        return re.search(rf"\b{name}\b", self.tests) or self.has_source(name.partition("_")[2] + ".cc")


def missing_readmes(root):
    for room in check_layering.ROOMS:
        if room not in WITHOUT_README and (root / room).is_dir() and not (root / room / "README.md").is_file():
            yield f"{room}: has no README.md"


def prose(text):
    """(number, line) of what is neither a table nor code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "    ")):
            yield number, line


def anchors(text):
    """Of the headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def wrong_names(tree, page, where, text):
    for name in SOURCE.findall(text):
        if "NAME" not in name and name.rpartition("/")[2] not in NOT_OURS and not tree.has_source(name):
            yield f"{where}: names `{name}`, which is not there"
    for target, anchor in LINK.findall(text):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        if not there.exists():
            yield f"{where}: links to {target}, which is not there"
        elif anchor and anchor not in anchors(there.read_text()):
            yield f"{where}: links to {target}#{anchor}, but there is no such heading"


def wrong_numbers(tree, where, text):
    for digits, unit, name in NUMBER.findall(text):
        said = int(digits.replace(",", "")) * UNITS.get(unit, 1)
        values = tree.constants.get(name, set())
        if said not in values:
            found = ", ".join(str(value) for value in sorted(values)) or "no such constant"
            yield f"{where}: says {digits} {unit}".rstrip() + f" for `{name}`, which is {found}"


def wrong_tests(tree, where, text):
    shown = False
    for line in text.splitlines():
        if not line.startswith("|"):
            shown = False
            continue
        last = line.rstrip("|").rpartition("|")[2]
        if re.match(r"\s*shown by", last):
            shown = True
        elif shown:
            names = TEST_PROGRAM.findall(last) + TEST_NAME.findall(last)
            for name in names:
                if not tree.has_test(name):
                    yield f"{where}: is shown by {name}, which is no test"
            for cases in CASES.findall(re.sub(r"\([^)]*\)", "", last)):
                for case in filter(None, (case.strip() for case in cases.split(","))):
                    if case not in tree.tests:
                        yield f"{where}: is shown by '{case}', which is no case of a test"
            if not names and not re.match(r" (no test:|---|shown by)", last) and set(last) - set("|- "):
                yield f"{where}: a row without a test: {line[:60]}"


def violations(root):
    tree = Tree(root)
    yield from missing_readmes(root)
    for page in tree.pages:
        where = page.relative_to(root).as_posix()
        text = page.read_text()
        if where not in WIDE and not where.startswith(("docs/results/", "tests/data/")):
            for number, line in prose(text):
                if len(line) > COLUMNS:
                    yield f"{where}:{number}: {len(line)} columns, at most {COLUMNS}"
        if where != "CHANGELOG.md":
            yield from wrong_names(tree, page, where, text)
        yield from wrong_numbers(tree, where, text)
        yield from wrong_tests(tree, where, text)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parents[2]).resolve()
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"docs: {len(found)} violation(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
