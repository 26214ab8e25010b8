# SPDX-License-Identifier: Apache-2.0
"""What the first line of a report says of training with a device, a peer on it and environment workers, all at
once. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PROGRAMS, GPUBOUND_TEST_SIM_DIR."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/vectorised_training.py"
SCRIPT = json.dumps({"device": {"kernels": {"worker_kernel": 4_000_000}}})
FIRST_LINE = re.compile(
    r"nvidia-smi model (?P<claimed>[\d.]+) %, GPU really (?P<own>[\d.]+) % \(peers (?P<peers>[\d.]+) %\), "
    r"idle (?P<idle>[\d.]+) %: (mostly |first of all )?waiting for 8 env workers( \(\d+ % of it\))?; "
    r"twice as fast simulation would take (?P<part>[\d.]+) x \[(?P<low>[\d.]+), (?P<high>[\d.]+)\] "
    r"the (whole run's )?time")


class FirstLineTest(unittest.TestCase):
    def output_of(self, *words):
        surroundings = {**os.environ, "LD_LIBRARY_PATH": os.environ["GPUBOUND_TEST_SIM_DIR"],
                        "GPUBOUND_SIM_SCRIPT": SCRIPT, "COLUMNS": "500", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                              env=surroundings)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_says_claim_truth_peers_idle_whose_fault_it_is_and_what_would_help(self):
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/x.gpubound"
            self.output_of(COMMAND, "run", "-q", "-o", run, "--", sys.executable, PROGRAM)
            line = self.output_of(COMMAND, "report", run).split("\n")[0]
            report = json.loads(self.output_of(COMMAND, "report", run, "--json"))["run"]
        self.assertRegex(line, FIRST_LINE)
        said = {name: float(figure) for name, figure in FIRST_LINE.search(line).groupdict().items()}
        self.assertGreater(said["peers"], 0)
        # Each is rounded to a percent.
        self.assertAlmostEqual(said["own"] + said["peers"], 100 * report["gpu_busy_share"], delta=1)
        self.assertAlmostEqual(said["own"] + said["peers"] + said["idle"], 100, delta=1.5)
        self.assertGreaterEqual(said["claimed"], said["own"] + said["peers"])
        self.assertLessEqual(said["low"], said["part"])
        self.assertLessEqual(said["part"], said["high"])
        self.assertLess(said["high"], 1)


if __name__ == "__main__":
    unittest.main()
