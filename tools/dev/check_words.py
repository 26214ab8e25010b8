#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words in texts for users that only this project's history explains: check_words.py [ROOT]. Exits 1 and
names each.

Texts for users are the Markdown pages, and the string literals of more than one word in C++, in the report
page and in the Python package: help, reports, errors, the ledger, the table of variables. docs/glossary.md
says which words there are instead.
"""
import io
import pathlib
import re
import sys
import tokenize

ROOMS = ("proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools")
LEFT_OUT = {"build", "node_modules", ".git", "data", "dev"}  # built, others', and what developers run
GLOSSARY = "docs/glossary.md"

BANNED = {
    r"(?<!left )(?<!leaves )(?<!leave )(?<!it left )\bbehind\b": "after, or past",
    r"\btold\b(?! apart| by CUPTI)": "shown, said, known",
    r"\bdear(?:er|est)?\b": "costly, expensive",
    r"\blearnt\b": "captured, measured",
    r"\bbooked\b": "attributed",
    r"\blanes?\b": "thread",
    r"% of it\)": "of the run's time",
    r"\bfirst of all\b": "largest cause",
    r"\bno room\b": "hidden, does not fit",
}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SCRIPT_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
    return re.sub(r"(?m)^((?:[^\"'`\n/]|/(?!/)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[`'])*)//.*$", r"\1", text)


def literals(path):
    """(line, text) of each string literal."""
    text = path.read_text(errors="replace")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                yield token.start[0], re.sub(r"\{[^}]*\}", "", token.string)
        return
    pattern = SCRIPT_LITERAL if path.suffix == ".ts" else LITERAL
    plain = without_comments(text)
    for found in pattern.finditer(plain):
        yield plain.count("\n", 0, found.start()) + 1, re.sub(r"\$\{[^}]*\}", "", found.group())


def lines_of_page(path):
    """(line, text) without code."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "`", line)


def texts(root):
    """(path, line, text) of everything that users read."""
    for path in sorted(root.rglob("*.md")):
        where = path.relative_to(root)
        if not LEFT_OUT & set(where.parts) and where.parts[0] in ("docs", "README.md", "CHANGELOG.md", "SECURITY.md",
                                                                 "CONTRIBUTING.md") and str(where) != GLOSSARY:
            for number, line in lines_of_page(path):
                yield where, number, line
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            where = path.relative_to(root)
            if path.suffix in (".h", ".cc", ".c", ".ts", ".py") and not LEFT_OUT & set(where.parts):
                for number, text in literals(path):
                    if " " in text.strip("\"' "):
                        yield where, number, text


def violations(root):
    for where, number, text in texts(root):
        for pattern, instead in BANNED.items():
            for found in re.finditer(pattern, text, re.IGNORECASE):
                yield f"{where}:{number}: '{found.group()}': say {instead}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parents[2]).resolve()
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"words: {len(found)} violation(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
