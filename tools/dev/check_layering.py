#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which room includes which: check_layering.py [ROOT]. Exits 1 and names each violation.

The table below is the architecture. Rooms may include themselves and what their row lists, and
third-party headers only where CONFINED allows them.
"""
import pathlib
import re
import sys

ROOMS = {
    "proto": [],
    "annotate": [],
    "libprofiler": ["annotate", "proto"],
    "cupti_hooks": ["libprofiler", "proto"],
    "analysis": ["proto"],
    "tools": ["analysis", "proto", "libprofiler/env_vars.h", "annotate/include"],
    "examples": ["annotate"],
    "bench": ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools"],
    "tests": ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools", "examples"],
}

# Third-party header (regular expression) -> the only places of ours that may include it. Tests and
# benchmarks may include anything.
CONFINED = {
    r"sqlite3\.h": [
        "libprofiler/sqlite_sink.cc",
        "libprofiler/batching_vfs.cc",
        "analysis/sqlite.cc",
    ],
    # What is compiled into the command and into the loadable extension includes analysis/sqlite_api.h.
    r"sqlite3ext\.h": ["analysis/sqlite_api.h"],
    r"cupti.*\.h": ["cupti_hooks/"],
    r"cuda(_runtime.*)?\.h": ["cupti_hooks/", "examples/"],
    r"(nvtx3/.*|nvToolsExt.*)": ["cupti_hooks/"],
    r"Python\.h": ["annotate/python/"],
    r"protozero/.*": ["proto/", "analysis/perfetto_packets.cc"],
    r"zstd.*\.h": ["proto/compress.cc"],
    r"CLI/.*": ["tools/"],
    r"simdjson\.h": ["analysis/chrome_event.cc"],
    r"zlib\.h": ["analysis/import_source.cc"],
    r"nlohmann/.*": ["analysis/", "tools/"],
    r"fmt/.*": ["tools/"],
    r"gtest/.*|gmock/.*|benchmark/.*|.*\.pb\.h": [],
}

# The injected half does without streams, regular expressions and locales.
BANNED = {
    r"iostream|fstream|sstream|regex|locale": ["proto", "annotate", "libprofiler", "cupti_hooks"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cu", ".in"}


def resolve(root, source, name):
    """The path below |root| that a quoted include of |source| means, or None for foreign headers."""
    for base in (root, source.parent, root / "annotate" / "include", root / "tests"):
        candidate = base / name
        if candidate.exists():
            return candidate.resolve().relative_to(root)
    if name.split("/")[0] == "gpubound":
        return pathlib.Path("annotate/include") / name
    return None


def violations(root):
    for source in sorted(root.iterdir()):
        if source.suffix in SUFFIXES and source.is_file():
            yield f"{source.name}: belongs to no room"
    for room, allowed in ROOMS.items():
        for source in sorted((root / room).rglob("*")):
            if source.suffix not in SUFFIXES or not source.is_file():
                continue
            relative = source.relative_to(root).as_posix()
            for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                where = f"{relative}:{number}"
                name = match.group(2)
                target = resolve(root, source, name)
                if target is not None:
                    to = target.as_posix()
                    if not (to.startswith(room + "/") or
                            any(to == a or to.startswith(a + "/") for a in allowed)):
                        yield f"{where}: {room}/ may not include {to}"
                    continue
                if room in ("tests", "bench"):
                    continue
                for pattern, places in CONFINED.items():
                    if re.fullmatch(pattern, name) and not any(
                            relative == p or (p.endswith("/") and relative.startswith(p))
                            for p in places):
                        yield f"{where}: <{name}> may be included by {places or 'tests'} only"
                for pattern, rooms in BANNED.items():
                    if room in rooms and re.fullmatch(pattern, name):
                        yield f"{where}: <{name}> does not belong in the injected half"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parents[2]).resolve()
    if not any((root / room).is_dir() for room in ROOMS):
        sys.exit(f"layering: no room found: expected some under {root}")
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"layering: {len(found)} violation(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
