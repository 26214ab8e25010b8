#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks house rules on source files: licence line, include guards. check_file_heads.py ROOT

A file of more than 400 lines is named too, as one to look at twice; that is no violation.
"""
import pathlib
import sys

ROOMS = ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools", "tests", "bench",
         "examples", "cmake"]
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cu", ".py", ".sh", ".cmake", ".ts", ".mjs", ".css"}
MANY_LINES = 400


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = seen = 0
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in SUFFIXES and path.name != "CMakeLists.txt":
                continue
            seen += 1
            lines = path.read_text(errors="replace").splitlines()
            where = path.relative_to(root)
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
                print(f"{where}: the licence line is missing from the first two lines")
                found += 1
            if path.suffix in {".h", ".hpp"} and not any(
                    line.startswith("#ifndef GPUBOUND_") for line in lines):
                print(f"{where}: no include guard GPUBOUND_..._H_")
                found += 1
            if len(lines) > MANY_LINES:
                print(f"note: {where}: {len(lines)} lines; is it one noun or one verb?")
    if seen == 0:
        sys.exit(f"no file found: expected some under {root}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
