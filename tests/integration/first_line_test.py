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
VERDICT = re.compile(
    r"Environment-bound: the GPU is idle (?P<cause>[\d.]+) %[^,]* while it waits for 8 workers to step environments, "
    r"and busy (?P<busy>[\d.]+) %\.")
HEADLINE = re.compile(
    r"GPU busy (?P<own>[\d.]+) % \(peers (?P<peers>[\d.]+) %\), idle (?P<idle>[\d.]+) %; "
    r"nvidia-smi would show up to (?P<claimed>[\d.]+) %\.")


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
            text = self.output_of(COMMAND, "report", run)
            full = self.output_of(COMMAND, "report", run, "--full")
            report = json.loads(self.output_of(COMMAND, "report", run, "--json"))
        # Where the machine is loaded, the cores come first and what the run waits for second.
        found = next(row for row in report["diagnosis"] if row["kind"] == "environment-workers")
        self.assertIn(found, report["diagnosis"][:2])
        self.assertRegex(found["finding"], VERDICT)
        self.assertIn("environment workers", found["action"])
        self.assertIn(found["finding"], " ".join(text.split()))
        self.assertRegex(full, HEADLINE)
        busy_share = report["run"]["gpu_busy_share"]
        said = {name: float(figure) for name, figure in HEADLINE.search(full).groupdict().items()}
        self.assertGreater(said["peers"], 0)
        # Each is rounded to a percent.
        self.assertAlmostEqual(said["own"] + said["peers"], 100 * busy_share, delta=1)
        self.assertAlmostEqual(said["own"] + said["peers"] + said["idle"], 100, delta=1.5)
        self.assertGreaterEqual(said["claimed"], said["own"] + said["peers"])
        verdict = VERDICT.search(found["finding"]).groupdict()
        self.assertAlmostEqual(float(verdict["busy"]), 100 * busy_share, delta=1)
        self.assertLessEqual(float(verdict["cause"]), said["idle"] + 1)
        saving = report["diagnosis"][0]["saving"]
        self.assertGreater(saving["saves"], 0.05)
        self.assertGreater(saving["saves_low"], 0)


if __name__ == "__main__":
    unittest.main()
