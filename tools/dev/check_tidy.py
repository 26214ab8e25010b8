#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the product's sources: check_tidy.py [--quick] ROOT BUILD [FILE...].

Warnings fail. --quick leaves out clang's path-sensitive analyzer and the checks below, two thirds of the
time. The build must hold a compile_commands.json. Tests and benchmarks are compiled with warnings as
errors but not tidied.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

# What --quick leaves out besides the analyzer: dear, because they look at every call in every system
# header, and either rare or seen by the compilers' own warnings too.
DEAR = ["bugprone-assert-side-effect", "bugprone-forward-declaration-namespace",
        "bugprone-infinite-loop", "bugprone-misplaced-widening-cast",
        "bugprone-multiple-statement-macro", "bugprone-not-null-terminated-result",
        "bugprone-sizeof-expression", "bugprone-standalone-empty", "bugprone-stringview-nullptr",
        "bugprone-suspicious-semicolon", "bugprone-suspicious-string-compare",
        "bugprone-undelegated-constructor", "bugprone-unused-raii", "bugprone-unused-return-value",
        "google-global-names-in-headers", "misc-definitions-in-headers", "misc-redundant-expression",
        "misc-unused-using-decls", "modernize-use-nullptr"]
ROOMS = ["proto", "annotate", "libprofiler", "cupti_hooks", "analysis", "tools", "examples"]


def main():
    arguments = sys.argv[1:]
    checks = []
    if arguments[0] == "--quick":
        arguments.pop(0)
        checks = ["--checks=-clang-analyzer-*," + ",".join("-" + check for check in DEAR)]
    root = pathlib.Path(arguments[0]).resolve()
    build = pathlib.Path(arguments[1]).resolve()
    tidy = shutil.which("clang-tidy-16")
    if tidy is None:
        print("check_tidy: clang-tidy-16 is missing; install the package clang-tidy-16")
        return 1
    wanted = [pathlib.Path(f).resolve() for f in arguments[2:]]
    sources = sorted({pathlib.Path(e["file"]) for e in
                      json.loads((build / "compile_commands.json").read_text())})
    sources = [s for s in sources if s.is_relative_to(root) and
               s.relative_to(root).parts[0] in ROOMS and s.suffix in (".cc", ".c") and
               (not wanted or s in wanted)]

    def run(source):
        return source, subprocess.run(
            [tidy, *checks, "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option",
             str(source)], capture_output=True, text=True, check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, result in pool.map(run, sources):
            if result.returncode != 0:
                failed += 1
                print(f"--- {source.relative_to(root)}\n{result.stdout}")
    print(f"clang-tidy: {len(sources) - failed} of {len(sources)} files clean", file=sys.stderr)
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
