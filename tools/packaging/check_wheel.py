#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what is wrong with a wheel, and how large what is in it is: check_wheel.py WHEEL [--extension NAME ...]

A wheel has to hold the command, the injected libraries, the report page, the demo and the Python extensions; its
files need no library but those of glibc and each other; each symbol that they lack has a version of the C library,
another of its files or Python; and it has at most 12 MB. `auditwheel` says the rest: which versions of glibc they
take. Exits 1 and names each fault.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 12 * 1000 * 1000
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
         "ld-linux-aarch64.so.1"}
FILES = ("bin/gpubound", "lib/libgpubound.so", "lib/libgpubound_core.so", "lib/libgpubound_engine.so",
         "lib/gpubound_sqlite.so", "lib/gpubound-calibration", "demo/cartpole_ppo", "include/gpubound/annotate.h",
         "startup/sitecustomize.py")
# Begin of the page, which is in the command's library.
PAGE = b'<!doctype html>\n<html lang="en">'


def readelf(file, *options):
    return subprocess.run(["readelf", "-W", *options, str(file)], text=True, check=True, stdout=subprocess.PIPE).stdout


def symbols(file):
    """Names that it defines for others, and what it lacks and cannot do without."""
    defined, missing = set(), set()
    for line in readelf(file, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":"):
            continue
        if fields[6] != "UND":
            defined.add(fields[7].split("@")[0])
        elif fields[4] == "GLOBAL" and "@" not in fields[7]:
            missing.add(fields[7])
    return defined, missing


def faults_of_linking(files):
    """Of |files|, path in the wheel to file: those that are programs or libraries."""
    elfs = {name: file for name, file in files.items() if file.read_bytes()[:4] == b"\x7fELF"}
    of_each = {name: symbols(file) for name, file in elfs.items()}
    for name, file in sorted(elfs.items()):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf(file, "-d")))
        beside = {other: path for path in elfs for other in [path.rsplit("/", 1)[1]]}
        for library in sorted(needed - GLIBC - set(beside)):
            yield f"{name} needs {library}, which is neither glibc's nor in the wheel"
        found = set().union(*(of_each[beside[library]][0] for library in needed & set(beside)), set())
        is_extension = re.fullmatch(r"gpubound/_\w+\..*so", name) is not None
        for symbol in sorted(of_each[name][1] - found):
            if not (is_extension and re.match(r"_?Py", symbol)):
                yield f"{name} lacks {symbol}, which nothing defines"


def faults(wheel, extensions):
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        files = {str(path.relative_to(folder)): path for path in pathlib.Path(folder).rglob("*") if path.is_file()}
        for name in [*FILES, *extensions]:
            if f"gpubound/{name}" not in files:
                yield f"gpubound/{name} is missing"
        engine = files.get("gpubound/lib/libgpubound_engine.so")
        if engine is not None and PAGE not in engine.read_bytes():
            yield "gpubound/lib/libgpubound_engine.so has no report page"
        yield from faults_of_linking(files)
    size = wheel.stat().st_size
    if size > LIMIT:
        yield f"it has {size} bytes, at most {LIMIT}"


def print_sizes(wheel):
    """Of the largest files, as they are and in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        rows = sorted(archive.infolist(), key=lambda info: info.compress_size, reverse=True)
    for info in rows[:14]:
        print(f"{info.file_size:>10} {info.compress_size:>9}  {info.filename}")
    print(f"{sum(info.file_size for info in rows):>10} {wheel.stat().st_size:>9}  {wheel.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--extension", action="append", default=[], help="a file that has to be in gpubound/")
    arguments = parser.parse_args()
    print_sizes(arguments.wheel)
    found = list(faults(arguments.wheel, arguments.extension))
    for line in found:
        print(f"{arguments.wheel.name}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
