# SPDX-License-Identifier: Apache-2.0
"""Ranges of PyTorch in profiled programs, which are rows of the report, as often as they were opened:
those of torch.cuda.nvtx and of torch.profiler.record_function. Needs a torch that was built with CUDA,
and no GPU. Environment: GPUBOUND_TEST_COMMAND."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TURNS = 50
NVTX = f"""
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
RECORD_FUNCTION = f"""
import torch
from torch.profiler import record_function
from torch.utils.data import DataLoader

@record_function("update")
def update(x):
    return x.mul(2)

@torch.jit.script
def scripted(x: torch.Tensor):
    with record_function("inside of TorchScript"):
        return x + 1

def inference(x):
    with record_function("inference"):
        return x.sum()

batches = iter(DataLoader(torch.ones({TURNS}, 16), batch_size=1))
assert scripted(torch.ones(1)) == 2
assert torch.compile(inference, backend="eager", fullgraph=True)(torch.ones(2)) == 2
for turn in range({TURNS}):
    with record_function("simulation"):
        x = next(batches)
        inference(x)
    update(x)
print("trained")
"""


class TorchRangesTest(unittest.TestCase):
    def profile(self, program):
        """The report of the process, and in which domains its annotations are, by name."""
        command = os.environ["GPUBOUND_TEST_COMMAND"]
        with tempfile.TemporaryDirectory() as folder:
            run, script = pathlib.Path(folder) / "run.gpubound", pathlib.Path(folder) / "program.py"
            script.write_text(program)
            done = subprocess.run([command, "run", "-q", "-o", run, "--", sys.executable, script],
                                  text=True, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
            report = self.json_of(command, "report", run, "--json")
            domains = {row["name"]: row["domain"] for row in self.json_of(
                command, "sql", "--json", run,
                "select distinct name, domain from scope where kind = 'annotation'")}
        self.assertEqual([entry for entry in report["ledger"] if entry["severity"] == "error"], [])
        return max(report["processes"], key=lambda process: process["span_ns"]), domains

    def json_of(self, *words):
        done = subprocess.run(words, text=True, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def assert_counted(self, process, names):
        counts = {row["operation"]: row["count"] for row in process["operations"]}
        for name in names:
            self.assertEqual(counts.get(name), TURNS, counts)
        self.assertEqual(sum(row["wall_ns"] for row in process["operations"]), process["span_ns"])

    def test_ranges_of_nvtx_are_operations(self):
        process, _ = self.profile(NVTX)
        self.assert_counted(process, ("simulation", "inference of a policy", "update"))

    def test_ranges_of_record_function_are_operations(self):
        process, domains = self.profile(RECORD_FUNCTION)
        self.assert_counted(process, ("simulation", "inference", "update"))
        self.assertIsNone(domains["simulation"])
        # What torch opens itself is recorded as its own and is no operation.
        own = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        self.assertEqual(domains[own], "torch")
        self.assertNotIn(own, [row["operation"] for row in process["operations"]])


if __name__ == "__main__":
    unittest.main()
