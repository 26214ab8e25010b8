# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.nvtx in a profiled program: its ranges are rows of the report, as often as they were opened.
Needs a torch that was built with CUDA, and no GPU. Environment: GPUBOUND_TEST_COMMAND."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TURNS = 50
PROGRAM = f"""
import torch
from torch.cuda import nvtx

x = torch.ones(16)
for turn in range({TURNS}):
    nvtx.range_push("simulation")
    x = x + 1
    nvtx.range_pop()
    with nvtx.range("inference {{}}", "of a policy"):
        x.sum()
    nvtx.mark("loss")
    nvtx.range_push("update")
    x.mul(2)
    nvtx.range_pop()
    handle = nvtx.range_start("background")
    nvtx.range_end(handle)
print("trained")
"""


class TorchNvtxTest(unittest.TestCase):
    def test_ranges_are_operations(self):
        command = os.environ["GPUBOUND_TEST_COMMAND"]
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run.gpubound"
            done = subprocess.run([command, "run", "-q", "-o", run, "--", sys.executable, "-c", PROGRAM],
                                  text=True, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
            report = json.loads(subprocess.run([command, "report", run, "--json"], text=True,
                                               stdout=subprocess.PIPE, check=True).stdout)
        process = max(report["processes"], key=lambda process: process["span_ns"])
        counts = {row["operation"]: row["count"] for row in process["operations"]}
        for name in ("simulation", "inference of a policy", "update"):
            self.assertEqual(counts.get(name), TURNS, counts)
        self.assertEqual(sum(row["wall_ns"] for row in process["operations"]), process["span_ns"])
        errors = [entry for entry in report["ledger"] if entry["severity"] == "error"]
        self.assertEqual(errors, [])


if __name__ == "__main__":
    unittest.main()
