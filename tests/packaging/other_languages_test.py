#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in Rust and Go name their operations: other_languages_test.py LANGUAGE COMPILER SOURCE COMMAND SCRATCH"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LANGUAGE, COMPILER, SOURCE, COMMAND, SCRATCH = sys.argv[1:]
EXAMPLES = pathlib.Path(SOURCE) / "examples/other_languages"


class OtherLanguagesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def output_of(self, *words, folder=None, **environment):
        done = subprocess.run(words, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def build(self, program):
        if LANGUAGE == "rust":
            self.output_of(COMPILER, "--edition", "2021", "-D", "warnings", "-O", EXAMPLES / "annotate.rs", "-o",
                           program)
        else:  # its own library is compiled once, and kept
            self.output_of(COMPILER, "build", "-o", program, ".", folder=EXAMPLES / "go", GOCACHE=f"{SCRATCH}/go",
                           GOTOOLCHAIN="local", GOFLAGS="-mod=mod", CGO_ENABLED="1",
                           CGO_CFLAGS=f"-O1 -I{SOURCE}/annotate/include")

    def test_its_operations_are_those_of_its_own_clocks(self):
        program = self.folder / "annotate"
        self.build(program)
        self.output_of(program)
        # A busy machine may run something else between the begin of a scope and the reading of the clock.
        tries = [self.profile(program, self.folder / f"{i}.gpubound") for i in range(5)]
        self.assertTrue(any(all(abs(rows[operation] / measured_ns - 1) < 0.01
                                for operation, measured_ns in clocks.items()) for clocks, rows in tries), tries)

    def profile(self, program, recorded):
        """What the program measured, and what was recorded, in ns by operation."""
        clocks = json.loads(self.output_of(COMMAND, "run", "-q", "-o", recorded, "--", program))
        report = json.loads(self.output_of(COMMAND, "report", recorded, "--json"))["processes"][0]
        self.assertEqual(report["iterations"]["count"], 4)
        return clocks, {row["operation"]: row["wall_ns"] for row in report["operations"]}


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
