# SPDX-License-Identifier: Apache-2.0
"""What processes that were killed leave on the disk is their data, once anything has read it.
Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_SHIM, PYTHONPATH with the package."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = """
import gpubound, os, signal, sys
with gpubound.operation('simulation'):
    if sys.argv[1] == 'parent' and os.fork() == 0:
        with gpubound.operation('child'): os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == 'parent': os.wait(); os._exit(0)
    os.kill(os.getpid(), signal.SIGTERM)
"""
MOST = 1 << 20  # the database, its log, and what is in the mapping


def bytes_on_disk(folder):
    return sum(path.lstat().st_blocks * 512 for path in pathlib.Path(folder).iterdir())


class TrimmedTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.runs = [f"{scratch.name}/{name}.gpubound" for name in ("report", "compact")]

    def run_command(self, *words):
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_end_of_a_recorded_command_leaves_the_data_of_killed_children(self):
        self.run_command("run", "-q", "-o", self.runs[0], "--", sys.executable, "-c", PROGRAM, "parent")
        self.assertEqual(len(list(pathlib.Path(self.runs[0]).glob("*.live"))), 1)
        self.assertLess(bytes_on_disk(self.runs[0]), MOST)

    def test_a_report_and_a_compaction_trim_what_no_launcher_did(self):
        for run in self.runs:
            done = subprocess.run([sys.executable, "-c", PROGRAM, "alone"], check=False,
                                  env={**os.environ, "LD_PRELOAD": os.environ["GPUBOUND_TEST_SHIM"],
                                       "GPUBOUND_RUN": run})
            self.assertEqual(done.returncode, -signal.SIGTERM)
            self.assertGreater(bytes_on_disk(run), 2 * MOST)
        before = self.run_command("report", self.runs[0], "--json")
        self.assertGreater(bytes_on_disk(self.runs[0]), 2 * MOST, "who recorded just now may still run")
        time.sleep(3.5)  # kQuietNs
        self.assertEqual(self.run_command("report", self.runs[0], "--json"), before)
        self.run_command("compact", self.runs[1])
        for run in self.runs:
            self.assertLess(bytes_on_disk(run), MOST)
        self.assertEqual(self.run_command("report", self.runs[0], "--json"), before)


if __name__ == "__main__":
    unittest.main()
