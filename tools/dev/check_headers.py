#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles headers on their own, so that each includes what it names.

check_headers.py ROOT BUILD: uses the flags of BUILD/compile_commands.json's first C++ entry of the
header's room, so include paths are those of the real build. A header that its own source includes
before anything else is compiled so by that build, or by check_tidy.py where the build puts the source
behind others, and is not compiled again.
"""
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

from compile_commands import entries

ROOMS = ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools"]


def room_flags(root, commands):
    flags: dict[str, list[str]] = {}
    for source, entry in commands.items():
        if not source.is_relative_to(root) or source.suffix != ".cc":
            continue
        room = source.relative_to(root).parts[0]
        words = shlex.split(entry["command"])
        keep = [w for i, w in enumerate(words) if w.startswith(("-I", "-D", "-std", "-W")) or
                (i and words[i - 1] == "-isystem") or w == "-isystem"]
        flags.setdefault(room, keep)
    return flags


def is_compiled_first(root, header, compiled):
    """Whether foo.cc beside foo.h is compiled and includes it first; and foo.h guards itself."""
    source = header.with_suffix(".cc")
    if source not in compiled:
        return False
    lines = source.read_text().splitlines()
    first = next((line for line in lines if line.startswith("#include")), "")
    guards = [line.split()[:1] for line in header.read_text().splitlines() if line.startswith("#")]
    return (first == f'#include "{header.relative_to(root)}"' and
            guards[:2] == [["#ifndef"], ["#define"]])


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    commands = entries(pathlib.Path(sys.argv[2]).resolve())
    flags = room_flags(root, commands)
    every = [h for room in ROOMS for h in sorted((root / room).rglob("*.h*"))
             if h.suffix in (".h", ".hpp")]
    headers = [h for h in every if not is_compiled_first(root, h, commands)]

    def compile_one(header):
        room = header.relative_to(root).parts[0]
        options = flags.get(room) or flags["tests"]
        options = options + [f"-I{root}", f"-I{root}/annotate/include"]
        language = "c++"
        if "shim" in header.parts:  # the preloaded library is C
            language, options = "c", [o for o in options if not o.startswith(("-std", "-W"))]
        text = f'#include "{header.relative_to(root)}"\n#include "{header.relative_to(root)}"\n'
        command = [os.environ.get("CXX", "g++"), "-fsyntax-only", "-x", language, *options, "-"]
        return header, subprocess.run(command, input=text, text=True, capture_output=True,
                                      check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, result in pool.map(compile_one, headers):
            if result.returncode != 0:
                failed += 1
                print(f"{header.relative_to(root)} does not compile on its own:\n{result.stderr}")
    print(f"self-contained headers: {len(every) - failed} of {len(every)}, "
          f"{len(every) - len(headers)} of them by the build", file=sys.stderr)
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
