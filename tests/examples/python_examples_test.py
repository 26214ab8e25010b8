# SPDX-License-Identifier: Apache-2.0
"""The Python examples do the same with and without the profiler, and their reports say what they
promise. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_EXAMPLES, GPUBOUND_TEST_PACKAGE."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
EXAMPLES = os.environ["GPUBOUND_TEST_EXAMPLES"]


class ExampleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = f"{folder.name}/x.gpubound"

    def output_of(self, *words, **variables):
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def profile(self, example):
        """Output and report of the example under the profiler."""
        text = self.output_of(COMMAND, "run", "-q", "-o", self.run_directory, "--", sys.executable,
                              f"{EXAMPLES}/{example}")
        return text, json.loads(self.output_of(COMMAND, "report", self.run_directory, "--json"))

    def operations(self, report):
        return {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}


class QuickStartTest(ExampleTest):
    def test_it_learns_the_same_with_and_without_the_profiler(self):
        plain = self.output_of(sys.executable, f"{EXAMPLES}/quick_start.py",
                               PYTHONPATH=os.environ["GPUBOUND_TEST_PACKAGE"])
        profiled, report = self.profile("quick_start.py")
        self.assertEqual(profiled, plain)
        counts = self.operations(report)
        # Every action is chosen, carried out and learned from; each episode begins with a reset.
        self.assertEqual(counts["inference"], counts["update"])
        self.assertEqual(counts["simulation"], counts["update"] + 300)
        self.assertEqual({cell["phase"] for cell in report["processes"][0]["cells"]},
                         {"(no phase)", "training"})


class StableBaselinesTest(ExampleTest):
    def test_the_unedited_program_has_the_operations_that_it_promises(self):
        _, report = self.profile("stable_baselines3_ppo.py")
        counts = self.operations(report)
        self.assertEqual(counts["update"], 4)
        self.assertEqual(counts["optimizer"], counts["backpropagation"])
        self.assertEqual(counts["inference"], 2048 + 4)


if __name__ == "__main__":
    unittest.main()
