# SPDX-License-Identifier: Apache-2.0
"""Unedited multiprocessing programs: the report names the processes that the main one waits for, with
the times that it measured itself. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PROGRAMS."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/waits.py"
# What the program measures around a call and the report does not: reading the clock, unpickling, and
# whatever else a busy machine runs in between, in whole time slices.
OTHER_SHARE, OTHER_NS = 0.2, 8_000_000


class WaitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = f"{folder.name}/x.gpubound"

    def output_of(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def profile(self, action, method="fork"):
        """What the program says of itself, and its processes in the report, by pid."""
        output = self.output_of(COMMAND, "run", "-q", "-o", self.run_directory, "--", sys.executable,
                                PROGRAM, action, method)
        report = json.loads(self.output_of(COMMAND, "report", self.run_directory, "--json"))
        self.processes = {process["pid"]: process for process in report["processes"]}
        self.main = self.processes[report["run"]["root"]]
        return json.loads(output)

    def assert_waits(self, facts, but=()):
        """The waits of the main process are those that it measured; `but` are not looked at."""
        reported = {tuple(row["pids"]): row["ns"] for row in self.main["waits"]
                    if tuple(row["pids"]) not in but}
        measured = {tuple(pids): ns for pids, ns in facts["waits"] if pids}
        self.assertEqual(set(reported), set(measured))
        for pids, ns in measured.items():
            # The counter's rate is not yet known exactly in a process's first moments.
            self.assertLessEqual(reported[pids], 1.02 * ns)
            self.assertGreaterEqual(reported[pids], self.least(ns), f"of {pids}")
        self.assertEqual({row["operation"] for row in self.main["waits"]}, {"collect"})

    def least(self, measured_ns):
        return (1 - OTHER_SHARE) * measured_ns - OTHER_NS

    def row(self, pid):
        """The row of operation collect in the report of process `pid`."""
        return next(row for row in self.processes[pid]["operations"]
                    if row["operation"] == "collect")

    def text(self, *options):
        return " ".join(self.output_of(COMMAND, "report", self.run_directory, *options).split())

    def check_pipes(self, method):
        facts = self.profile("pipes", method)
        self.assert_waits(facts)
        for pid in facts["workers"]:
            self.assertTrue(self.row(pid)["inherited"])
        # Whoever is asked later may have finished by then.
        self.assertGreater(sum(self.row(pid)["cpu_only_ns"] for pid in facts["workers"]), 0)
        self.assertEqual([row["worker"] for row in self.main["awaited"]], [True] * 3)
        self.assertIn("Waiting for collect in 3 workers: ", self.text("--full"))

    def test_pipes_of_forked_workers(self):
        self.check_pipes("fork")

    def test_pipes_of_spawned_workers(self):
        self.check_pipes("spawn")

    def test_pipes_of_workers_of_a_fork_server(self):
        self.check_pipes("forkserver")

    def test_a_worker_waits_for_its_orders(self):
        facts = self.profile("pipes")
        pid = facts["workers"][0]
        self.assertEqual([row["pid"] for row in self.processes[pid]["waits"]
                          if row["ns"]][:1], [self.main["pid"]])

    def test_a_queue_names_all_who_write_into_it(self):
        facts = self.profile("queue")
        self.assert_waits(facts, but=[(pid,) for pid in facts["joined"]])
        self.assertTrue(all(self.row(pid)["inherited"] for pid in facts["joined"]))

    def test_a_queue_of_spawned_workers(self):
        facts = self.profile("queue", "spawn")
        self.assert_waits(facts, but=[(pid,) for pid in facts["joined"]])

    def test_a_simple_queue(self):
        facts = self.profile("simple queue")
        self.assertEqual([row["pids"] for row in self.main["waits"]], [facts["joined"]])

    def test_a_process_that_is_joined(self):
        self.assert_waits(self.profile("join"))

    def test_a_spawned_process_that_is_joined(self):
        self.assert_waits(self.profile("join", "spawn"))

    def test_a_worker_of_a_worker_inherits_through_it(self):
        facts = self.profile("nested")
        self.assert_waits(facts)
        self.assertTrue(self.row(facts["worker"])["inherited"])
        self.assertTrue(self.row(facts["helper"])["inherited"])
        waits = self.processes[facts["worker"]]["waits"]
        self.assertIn([facts["helper"]], [row["pids"] for row in waits])

    def test_a_connection_that_was_passed_on_names_who_has_it(self):
        self.assert_waits(self.profile("grandchild"))

    def test_a_descriptor_that_is_used_again_is_another_channel(self):
        facts = self.profile("reuse")
        self.assertEqual(len(set(facts["descriptors"])), 1)
        self.assert_waits(facts)

    def test_a_worker_that_is_connected_to_anew_each_time(self):
        self.assert_waits(self.profile("clients"))

    def test_a_wait_for_several_at_once(self):
        self.assert_waits(self.profile("several"))

    def test_a_pool(self):
        facts = self.profile("pool")
        self.assertIn(facts["waits"][0][0], [row["pids"] for row in self.main["waits"]])

    def test_a_program_that_is_not_recorded_is_nobody_known(self):
        facts = self.profile("stranger")
        self.assertEqual(self.main["waits"], [])
        row = self.row(self.main["pid"])
        self.assertEqual(row["waiting_ns"], 0)
        self.assertGreaterEqual(row["idle_ns"], self.least(facts["waits"][0][1]))

    def test_the_interpreters_own_waits_are_none_of_native_code(self):
        self.profile("threads")
        native = self.output_of(COMMAND, "sql", self.run_directory,
                                "select name from scope where domain = 'native'", "--json")
        self.assertEqual(json.loads(native), [])

    def test_a_command_that_records(self):
        self.assert_waits(self.profile("command"))


if __name__ == "__main__":
    unittest.main()
