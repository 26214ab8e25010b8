#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the product's sources: check_tidy.py [--quick] ROOT BUILD [FILE...].

Warnings fail. --quick leaves out clang's path-sensitive analyzer and the checks below, two thirds of the
time, and looks at files together that the build compiles together, which halves the rest; the analyzer
would not look at them there. The build must hold a compile_commands.json. Tests and benchmarks are not
tidied: clang compiles them, with the warnings that gcc is asked for too, where `tools/test --all` builds
everything with it.

A source that was clean is not looked at again until something changes that it depends on: its compile
command, the content of a file that it includes, .clang-tidy, clang-tidy itself or the checks asked for.
What was clean is remembered below $XDG_CACHE_HOME (~/.cache), in gpubound-tidy; delete it to start over.
Where the checkout lies does not count: a clone knows what was clean in another.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from compile_commands import entries, is_unit, units

# What --quick leaves out besides the analyzer: dear, because they look at every call in every system
# header, and either rare or seen by the compilers' own warnings too.
DEAR = ["bugprone-assert-side-effect", "bugprone-forward-declaration-namespace",
        "bugprone-infinite-loop", "bugprone-misplaced-widening-cast",
        "bugprone-multiple-statement-macro", "bugprone-not-null-terminated-result",
        "bugprone-sizeof-expression", "bugprone-standalone-empty", "bugprone-stringview-nullptr",
        "bugprone-suspicious-include", "bugprone-suspicious-semicolon",
        "bugprone-suspicious-string-compare", "bugprone-undelegated-constructor", "bugprone-unused-raii",
        "bugprone-unused-return-value",
        "google-global-names-in-headers", "misc-definitions-in-headers", "misc-redundant-expression",
        "misc-unused-using-decls", "modernize-use-nullptr"]
ROOMS = ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools", "examples"]
# For units, whose files count as headers.
OF_UNITS = f"--header-filter=/({'|'.join(ROOMS)})/([a-z_]+/)*[^/]*[.](h|hpp|cc)$"
SUFFIXES = [".cc", ".c"]
MONTH_S = 30 * 24 * 3600


class CleanSources:
    """Which sources were clean, by a hash of all that decides it."""

    def __init__(self, root, *common):
        self._root = str(root)
        home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self._folder = pathlib.Path(home, "gpubound-tidy")
        self._common = "\0".join(common)
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.iterdir():
            if old.stat().st_mtime < time.time() - MONTH_S:
                old.unlink(missing_ok=True)

    def key(self, command, folder):
        """Of the source that |command| compiles in |folder|; None where its includes are not found."""
        words = compiler_words(command)
        listed = subprocess.run([*words, "-M", "-MF", "-", "-MT", "all"], cwd=folder,
                                capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            return None
        whole = hashlib.sha256(self._anywhere("\0".join([self._common, *words])))
        for file in listed.stdout.replace("\\\n", " ").split()[1:]:
            whole.update(self._anywhere(file) + content(pathlib.Path(folder, file), self._root))
        return whole.hexdigest()

    def _anywhere(self, text):
        return anywhere(text, self._root)

    def has(self, key):
        if key is None or not (self._folder / key).exists():
            return False
        (self._folder / key).touch()
        return True

    def add(self, key):
        if key is not None:
            (self._folder / key).touch()


def anywhere(text, root):
    """Without the place of the checkout."""
    return text.replace(root, "ROOT").encode()


@functools.lru_cache(maxsize=None)
def content(file, root):
    """Hashed; a unit names its files by their places."""
    return hashlib.sha256(anywhere(file.read_text(), root) if is_unit(file) else file.read_bytes()).digest()


def compiler_words(command):
    """The words of a compile command, without a launcher and an output."""
    words = shlex.split(command)
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    output = words.index("-o")
    return words[:output] + words[output + 2:]


def main():
    arguments = sys.argv[1:]
    checks = []
    quick = arguments[0] == "--quick"
    if quick:
        arguments.pop(0)
        checks = ["--checks=-clang-analyzer-*," + ",".join("-" + check for check in DEAR)]
    root = pathlib.Path(arguments[0]).resolve()
    build = pathlib.Path(arguments[1]).resolve()
    tidy = shutil.which("clang-tidy-16")
    if tidy is None:
        print("check_tidy: clang-tidy-16 is missing; install the package clang-tidy-16")
        return 1
    wanted = [pathlib.Path(f).resolve() for f in arguments[2:]]
    # By files, so that one of several targets is looked at once.
    if quick and not wanted:
        by_files = {tuple(files): entry for entry, files in units(build)}
    else:
        by_files = {(file,): entry for file, entry in entries(build).items()
                    if not wanted or file in wanted}
    chosen = [(entry, files) for files, entry in sorted(by_files.items())
              if any(is_ours(file, root) for file in files)]
    version = subprocess.run([tidy, "--version"], capture_output=True, text=True, check=True).stdout
    clean = CleanSources(root, version, *checks, (root / ".clang-tidy").read_text())

    def run(entry, database):
        key = clean.key(entry["command"], entry["directory"])
        if clean.has(key):
            return None
        words = [tidy, *checks, "--quiet", "-p", database, "--extra-arg=-Wno-unknown-warning-option"]
        if is_unit(pathlib.Path(entry["file"])):
            words.append(OF_UNITS)
        result = subprocess.run([*words, entry["file"]], cwd=entry["directory"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode == 0:
            clean.add(key)
        return result

    count = failed = 0
    with (tempfile.TemporaryDirectory() as database,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        pathlib.Path(database, "compile_commands.json").write_text(
            json.dumps([entry for entry, _ in chosen]))
        results = pool.map(lambda one: run(one[0], database), chosen)
        for (_, files), result in zip(chosen, results):
            count += len(files)
            if result is not None and result.returncode != 0:
                failed += len(files)
                print(f"--- {', '.join(map(str, files))}\n{result.stdout}")
    print(f"clang-tidy: {count - failed} of {count} files clean", file=sys.stderr)
    return 1 if failed or not chosen else 0


def is_ours(file, root):
    return (file.is_relative_to(root) and file.relative_to(root).parts[0] in ROOMS and
            file.suffix in SUFFIXES)


if __name__ == "__main__":
    sys.exit(main())
