# SPDX-License-Identifier: Apache-2.0
"""Scopes of C++20 coroutines: what the report says of them is what the program's own clocks say.
Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PROGRAM."""
import json
import os
import subprocess
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAM"]


class CoroutinesTest(unittest.TestCase):
    def output_of(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check(self, action):
        # A busy machine may run something else between the begin of a scope and the reading of the clock.
        tries = [self.profile(action) for _ in range(3)]
        self.assertTrue(any(all(abs(rows[operation] / measured_ns - 1) < 0.01
                                for operation, measured_ns in clocks.items()) for clocks, rows in tries), tries)

    def profile(self, action):
        """What the program measured, and what was recorded on all threads, in ns by operation."""
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/x.gpubound"
            clocks = json.loads(self.output_of(COMMAND, "run", "-q", "-o", run, "--", PROGRAM, action))
            report = json.loads(self.output_of(COMMAND, "report", run, "--json"))
            text = self.output_of(COMMAND, "report", run)
        process = report["processes"][0]
        threads = [process["operations"], *(lane["operations"] for lane in process["lanes"])]
        self.assertGreaterEqual(len(threads), 2)
        self.assertIn("Data quality: complete", text)
        return clocks, {operation: sum(row["wall_ns"] for thread in threads for row in thread
                                       if row["operation"] == operation) for operation in clocks}

    def test_tasks_of_a_programs_own_type_own_what_they_worked(self):
        self.check("tasks")

    def test_coroutines_of_asio_own_what_they_worked(self):
        self.check("asio")


if __name__ == "__main__":
    unittest.main()
