#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the sentences of the documentation are: sentence_lengths.py [--longest N] [PAGE...].

Prints for each page its sentences, the mean of their words and how many have more than 30. The aim is a mean
of 20. Prose alone counts, and the cells of tables; code blocks, headings and images do not. --longest prints
the N longest sentences of each page.
"""
import argparse
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = 30
# A full stop, colon or semicolon does not end one inside a number, a name or code.
END = re.compile(r"(?<=[.!?])[\"')\]*]*\s+(?=[\"'(\[*`A-Z0-9])")


def blocks(text):
    """The paragraphs, list items and cells of a page, each without its line breaks."""
    found: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            found.append([])
        elif fenced or re.match(r" {4}\S|#|!\[|\|[-:| ]+$", line) and not (found[-1] and line.startswith("    ")):
            found.append([])
        elif line.startswith("|"):
            found.extend([cell.strip()] for cell in re.split(r"(?<!\\)\|", line))
            found.append([])
        elif not line.strip():
            found.append([])
        elif re.match(r"\s*([-*]|\d+\.) ", line):
            found.append([re.sub(r"^\s*([-*]|\d+\.) ", "", line)])
        else:
            found[-1].append(line.strip())
    return [" ".join(lines) for lines in found if lines]


def sentences(text):
    """Those of at least three words."""
    for block in blocks(text):
        plain = re.sub(r"\]\([^)]*\)", "]", block)
        plain = re.sub(r"`[^`]*`", "`code`", plain)
        for sentence in END.split(plain):
            if len(sentence.split()) >= 3:
                yield sentence


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=0, metavar="N")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    pages = arguments.pages or [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        found = list(sentences(page.read_text()))
        words = [len(sentence.split()) for sentence in found]
        mean = sum(words) / max(len(words), 1)
        print(f"{page.name:24} {len(found):5} sentences, mean {mean:5.1f}, "
              f"{sum(count > LONG for count in words):4} of more than {LONG}")
        for sentence in sorted(found, key=lambda one: -len(one.split()))[:arguments.longest]:
            print(f"    {len(sentence.split())}: {sentence}")


if __name__ == "__main__":
    main()
