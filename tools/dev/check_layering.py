#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which room includes which: check_layering.py [ROOT]. Exits 1 and names each violation.

The table below is the architecture: a room and the rooms and files that it may include besides its own. Rooms
come in an order, and each may name only rooms above its own row, so that there is no cycle. A room owns the
sources in its folder and in those below it that are no rooms themselves; a source that no room owns is a
violation. Third-party headers are included only where CONFINED allows them.
"""
import pathlib
import re
import sys

BASE = ["proto", "analysis/base"]
TRACE = BASE + ["analysis/trace"]
SEGMENTS = TRACE + ["analysis/segments"]
MODEL = TRACE + ["analysis/report", "analysis/diagnosis"]
ATTRIBUTION = SEGMENTS + ["analysis/timeline", "analysis/sweep", "analysis/processes", "analysis/report",
                          "analysis/diagnosis"]
CORRECTION = ATTRIBUTION + ["analysis/reader", "analysis/calibration", "analysis/replay",
                            "analysis/attribution", "analysis/parts"]
CUPTI = ["cupti_hooks/cupti", "cupti_hooks/nvtx", "cupti_hooks/sampling"]
TOOLS = ["proto", "analysis", "libprofiler/env_vars.h", "annotate/include"]

ROOMS = {
    "proto": [],
    "annotate": [],
    "libprofiler": ["annotate", "proto"],
    "cupti_hooks/cupti": ["libprofiler", "proto"],
    "cupti_hooks/nvtx": ["libprofiler", "proto"],
    "cupti_hooks/sampling": ["libprofiler", "proto", "cupti_hooks/cupti"],
    "cupti_hooks": ["libprofiler", "proto"] + CUPTI,
    "analysis/base": ["proto"],
    "analysis/trace": BASE,
    "analysis/naming": TRACE,
    "analysis/segments": TRACE,
    "analysis/reader": SEGMENTS + ["analysis/naming"],
    "analysis/import": SEGMENTS,
    "analysis/timeline": TRACE,
    "analysis/sweep": TRACE + ["analysis/timeline"],
    "analysis/processes": SEGMENTS + ["analysis/timeline"],
    "analysis/calibration": TRACE,
    "analysis/replay": TRACE + ["analysis/timeline", "analysis/processes", "analysis/calibration"],
    "analysis/report": TRACE,
    # The rules from figures to findings, which every output shows: they read the model alone.
    "analysis/diagnosis": TRACE + ["analysis/report"],
    "analysis/attribution": ATTRIBUTION,
    "analysis/parts": ATTRIBUTION + ["analysis/reader", "analysis/attribution"],
    "analysis/correction": CORRECTION,
    "analysis/compact": ATTRIBUTION + ["analysis/reader", "analysis/attribution"],
    # These two can name the model and nothing of the engine: they read a report and compute nothing.
    "analysis/output/text": MODEL,
    "analysis/output/check": ["proto", "analysis/base", "analysis/report", "analysis/diagnosis",
                              "analysis/output/text"],
    "analysis/output/page": SEGMENTS + ["analysis/processes", "analysis/report", "analysis/diagnosis",
                             "analysis/output/text"],
    "analysis/output/tables": SEGMENTS + ["analysis/naming", "analysis/processes", "analysis/reader",
                                          "analysis/report", "analysis/correction"],
    "analysis/output/export": CORRECTION + ["analysis/correction", "analysis/output/text",
                                            "analysis/output/check", "analysis/output/page",
                                            "analysis/output/tables"],
    "analysis/output/live": SEGMENTS + ["analysis/reader", "analysis/report", "analysis/output/text"],
    # gpubound.open(): what the commands that read runs use, and of its neighbour how it spells Python.h.
    "annotate/python/reading": CORRECTION + ["annotate/python/extension/compat.h", "analysis/correction",
                                             "analysis/output/check", "analysis/output/text",
                                             "analysis/output/page", "analysis/output/tables",
                                             "analysis/output/export"],
    "tools/console": TOOLS,
    "tools/launch": TOOLS + ["tools/console"],
    "tools/calibrate": TOOLS + ["tools/console", "tools/launch"],
    "tools/verify": TOOLS + ["tools/console", "tools/launch", "tools/calibrate"],
    "tools/commands": TOOLS + ["tools/console", "tools/launch", "tools/calibrate", "tools/verify"],
    "tools/packaging": [],
    "examples": ["annotate"],
    "bench": ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools"] + CUPTI,
    "tests": ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools",
              "examples"] + CUPTI,
}
TOP = sorted({room.split("/")[0] for room in ROOMS})

# Third-party header (regular expression) -> the only places of ours that may include it. Tests and
# benchmarks may include anything.
CONFINED = {
    r"sqlite3\.h": [
        "libprofiler/sqlite_sink.cc",
        "libprofiler/batching_vfs.cc",
        "analysis/segments/sqlite.cc",
    ],
    # What is compiled into the command and into the loadable extension includes sqlite_api.h.
    r"sqlite3ext\.h": ["analysis/output/tables/sqlite_api.h"],
    r"cupti.*\.h": ["cupti_hooks/cupti/", "cupti_hooks/sampling/"],
    r"cuda(_runtime.*)?\.h": ["cupti_hooks/", "examples/"],
    r"(nvtx3/.*|nvToolsExt.*)": ["cupti_hooks/nvtx/"],
    r"Python\.h": ["annotate/python/"],
    r"protozero/.*": ["proto/", "analysis/parts/", "analysis/output/export/perfetto_packets.cc"],
    r"zstd.*\.h": ["proto/compress.cc"],
    r"CLI/.*": ["tools/commands/"],
    r"simdjson\.h": ["analysis/import/chrome_event.cc"],
    r"zlib\.h": ["analysis/import/import_source.cc"],
    r"nlohmann/.*": ["analysis/", "tools/"],
    r"fmt/.*": ["tools/"],
    r"spdlog/.*": ["tools/console/"],
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


def room_of(path):
    """The room that owns |path|, relative to the root; None where there is none."""
    return next((folder.as_posix() for folder in path.parents if folder.as_posix() in ROOMS), None)


def disorder():
    """Rows that name a room which does not come before them."""
    seen: set[str] = set()
    for room, allowed in ROOMS.items():
        for name in allowed:
            folder = name if "." not in name else pathlib.PurePosixPath(name).parent.as_posix()
            if not any(s == folder or s.startswith(folder + "/") or folder.startswith(s + "/") for s in seen):
                yield f"table: {room} names {name}, which does not come before it"
        seen.add(room)


def sources(root):
    for path in sorted(root.iterdir()):
        if path.is_file():
            yield path
    for top in TOP:
        yield from sorted((root / top).rglob("*"))


def violations(root):
    yield from disorder()
    for source in sources(root):
        if source.suffix not in SUFFIXES or not source.is_file():
            continue
        relative = source.relative_to(root)
        room = room_of(relative)
        if room is None:
            yield f"{relative.as_posix()}: belongs to no room"
            continue
        for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield from include_violations(root, source, room, match.group(2), number)


def include_violations(root, source, room, name, number):
    relative = source.relative_to(root).as_posix()
    where = f"{relative}:{number}"
    target = resolve(root, source, name)
    if target is not None:
        to = target.as_posix()
        allowed = room_of(target) == room or any(
            to == a or room_of(target) == a or
            (a not in ROOMS and to.startswith(a + "/")) for a in ROOMS[room])
        if not allowed:
            yield f"{where}: {room}/ may not include {to}"
        return
    if room in ("tests", "bench"):
        return
    for pattern, places in CONFINED.items():
        if re.fullmatch(pattern, name) and not any(
                relative == p or (p.endswith("/") and relative.startswith(p)) for p in places):
            yield f"{where}: <{name}> may be included by {places or 'tests'} only"
    for pattern, tops in BANNED.items():
        if room.split("/")[0] in tops and re.fullmatch(pattern, name):
            yield f"{where}: <{name}> does not belong in the injected half"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parents[2]).resolve()
    if not any((root / top).is_dir() for top in TOP):
        sys.exit(f"layering: no room found: expected some under {root}")
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"layering: {len(found)} violation(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
