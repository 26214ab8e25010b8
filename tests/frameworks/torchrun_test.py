# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training started by torchrun under `gpubound run`: every rank is recorded, learns what it
learns without the profiler, and its waits for the others are waits. Environment: GPUBOUND_TEST_COMMAND."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = pathlib.Path(__file__).parent / "programs" / "distributed.py"
TORCHRUN = pathlib.Path(sys.executable).parent / "torchrun"
LATE = PROGRAM.with_name("late_rank.py")
RANKS, ITERATIONS, LATE_RANKS = 2, 5, 3


class TorchrunTest(unittest.TestCase):
    def output_of(self, *words):
        done = subprocess.run(words, text=True, capture_output=True, check=False, timeout=900,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

    def train(self, *launcher):
        """What the ranks print, in order. What gloo says of its ranks may lie between, in pieces."""
        output = self.output_of(*launcher, TORCHRUN, "--standalone", f"--nproc-per-node={RANKS}", PROGRAM,
                                str(ITERATIONS))
        return sorted(re.findall(r"\d+: \[\[.*?\]\]", output))

    def test_every_rank_is_recorded_and_learns_the_same(self):
        plain = self.train()
        self.assertEqual(len(plain), RANKS)
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run.gpubound"
            self.assertEqual(self.train(COMMAND, "run", "-q", "-o", run, "--"), plain)
            report = json.loads(self.output_of(COMMAND, "report", run, "--json"))
            calls = json.loads(self.output_of(
                COMMAND, "sql", "--json", run,
                "select process, name, count(*) as count from scope where layer = 'wait' "
                "group by process, name"))
        self.check_ranks([process for process in report["processes"]
                          if process["pid"] != report["run"]["root"]])
        self.assertEqual([entry for entry in report["ledger"] if entry["severity"] == "error" or
                          entry["counter"] == "hooks_failed"], [])
        for name in ("barrier", "monitored_barrier"):
            name = "torch.distributed.distributed_c10d." + name
            self.assertEqual([row["count"] for row in calls if row["name"] == name],
                             [ITERATIONS] * RANKS, name)

    def test_each_rank_is_known_to_wait_for_the_late_one_as_long_as_it_did(self):
        report = self.check_waits("gloo")
        for process in report["processes"]:
            rows = {row["operation"]: row for row in process["operations"]}
            if process["pid"] != report["run"]["root"]:  # in at least three turns it is not the late one
                self.assertGreater(rows["backpropagation"]["waiting_ns"], 1e9)

    def test_so_it_is_with_a_backend_that_is_written_in_python(self):
        self.check_waits("stored")

    def check_waits(self, backend):
        """The report, whose waits are those by the clocks of the ranks."""
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run.gpubound"
            output = self.output_of(COMMAND, "run", "-q", "-o", run, "--", TORCHRUN, "--standalone",
                                    f"--nproc-per-node={LATE_RANKS}", LATE, "5", "0.5", backend)
            report = json.loads(self.output_of(COMMAND, "report", run, "--json"))
        truth = json.loads(re.search(r"truth (\{.*\})", output).group(1))
        processes = {str(process["pid"]): process for process in report["processes"]}
        for pid, awaited in truth.items():
            known = {}
            for wait in processes[pid]["waits"]:
                other = str(wait["pid"])
                known[other] = known.get(other, 0) + wait["ns"]
            whole = sum(awaited.values())
            for other in set(known) | set(awaited):
                self.assertAlmostEqual(known.get(other, 0), awaited.get(other, 0), delta=0.03 * whole,
                                       msg=f"{pid} waited for {other}: {known}, by its clock {awaited}")
        self.assertEqual([entry for entry in report["ledger"] if entry["counter"] == "hooks_failed"], [])
        return report

    def check_ranks(self, processes):
        self.assertEqual(len(processes), RANKS)
        for process in processes:
            counts = {row["operation"]: row["count"] for row in process["operations"]}
            for operation in ("backpropagation", "optimizer"):
                self.assertEqual(counts.get(operation), ITERATIONS, counts)
            self.assertEqual(sum(row["wall_ns"] for row in process["operations"]), process["span_ns"])


if __name__ == "__main__":
    unittest.main()
