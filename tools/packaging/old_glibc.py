#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder with an older C library to link with, and archives of what Debian only shares (docs/wheels.md).

    old_glibc.py FOLDER [--glibc 2.28] [--cc gcc] [--cxx g++]

Needs the module `ziglang`, which carries the C library, in the interpreter that runs this, and apt-get, which fetches
the source of simdjson. `cmake -DGPUBOUND_GLIBC_DIR=FOLDER` then builds for that C library. Ends with what failed.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Parts of it that are libraries of their own before 2.34: a program gets those that it uses.
ON_DEMAND = ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libld.so.2")


def run(*words, cwd=None, environment=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"old_glibc: {' '.join(str(word) for word in words)} failed:\n{done.stdout}")
    return done.stdout


def copy_c_library(folder, version, scratch):
    """What zig hands to its linker for that version of glibc: start files, libraries, the static part."""
    program = scratch / "empty.c"
    program.write_text("int main(void) { return 0; }\n")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(scratch / "zig"),
                   "ZIG_LOCAL_CACHE_DIR": str(scratch / "zig")}
    target = f"{platform.machine()}-linux-gnu.{version}"
    said = run(sys.executable, "-m", "ziglang", "cc", "-v", "-target", target, "-fPIE", "-pie", program, "-o",
               scratch / "empty", cwd=scratch, environment=environment)
    linked = [scratch / word for word in re.findall(r"\S+", said)
              if re.search(r"/(Scrt1\.o|lib\w+\.so\.\d|libc_nonshared\.a)$", word)]
    for file in linked:
        shutil.copy(file, folder)
    missing = {"Scrt1.o", "libc.so.6", "libm.so.6", "libc_nonshared.a", *ON_DEMAND} - {file.name for file in linked}
    if missing:
        sys.exit(f"old_glibc: this release of zig does not link with {', '.join(sorted(missing))}; it said\n{said}")


def compile_ours(folder, compiler, scratch):
    run(compiler, "-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", HERE / "old_glibc.c", "-o",
        scratch / "old_glibc.o")
    run("ar", "rcs", folder / "libold_glibc.a", scratch / "old_glibc.o")


def write_link_names(folder):
    """What -lc, -lm and their like find."""
    on_demand = " ".join(str(folder / name) for name in ON_DEMAND)
    (folder / "libc.so").write_text(
        "/* A script for the linker. */\n"
        f"GROUP ( {folder}/libc.so.6 {folder}/libc_nonshared.a {folder}/libold_glibc.a AS_NEEDED ( {on_demand} ) )\n")
    for name in ("libm.so.6", *ON_DEMAND):
        link = folder / name[:name.index(".so") + 3]
        link.unlink(missing_ok=True)
        link.symlink_to(name)


def compile_simdjson(folder, compiler, scratch):
    """Out of the source package of the installed version, by apt with lists of its own."""
    installed = run("dpkg-query", "-W", "-f", "${Version}", "libsimdjson-dev")
    suites = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages")
    (scratch / "lists" / "partial").mkdir(parents=True)
    (scratch / "cache" / "archives" / "partial").mkdir(parents=True)
    (scratch / "sources.list").write_text(
        f"deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {suites.splitlines()[0]} main\n")
    settings = (f"Dir::Etc::SourceList={scratch}/sources.list", "Dir::Etc::SourceParts=-",
                f"Dir::State::Lists={scratch}/lists", f"Dir::Cache={scratch}/cache", "APT::Sandbox::User=root")
    options = ["-q", *(word for setting in settings for word in ("-o", setting))]
    run("apt-get", *options, "update", cwd=scratch)
    run("apt-get", *options, "source", "--download-only", f"simdjson={installed}", cwd=scratch)
    archive, = scratch.glob("simdjson_*.orig.tar.*")
    with tarfile.open(archive) as source:
        names = [name for name in source.getnames() if re.search(r"/singleheader/simdjson\.(cpp|h)$", name)]
        for name in names:
            file = source.extractfile(name)
            if file is not None:
                (scratch / name.rsplit("/", 1)[1]).write_bytes(file.read())
    run(compiler, "-std=c++17", "-O2", "-DNDEBUG", "-DSIMDJSON_THREADS_ENABLED=1", "-fPIC", "-fvisibility=hidden", "-w",
        "-c", "simdjson.cpp", "-o", "simdjson.o", cwd=scratch)
    run("ar", "rcs", folder / "libsimdjson.a", "simdjson.o", cwd=scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--glibc", default="2.28")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cxx", default="g++")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        copy_c_library(folder, arguments.glibc, scratch)
        compile_ours(folder, arguments.cc, scratch)
        write_link_names(folder)
        compile_simdjson(folder, arguments.cxx, scratch)
    print(folder)


if __name__ == "__main__":
    main()
