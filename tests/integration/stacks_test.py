# SPDX-License-Identifier: Apache-2.0
"""Python stacks of a program that knows how long its functions took. Environment: GPUBOUND_TEST_COMMAND,
GPUBOUND_TEST_PROGRAMS, GPUBOUND_TEST_SIM_DIR; GPUBOUND_TEST_PYTHONS has further interpreters, separated by blanks."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/stacks.py"
PYTHONS = [sys.executable, *os.environ.get("GPUBOUND_TEST_PYTHONS", "").split()]
SIGMAS = 4  # one test in 16,000 is further off by chance


class StacksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = f"{folder.name}/x.gpubound"

    def output_of(self, *words, **settings):
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **settings})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def profile(self, python=sys.executable, seconds=8, options=(), **settings):
        output = self.output_of(COMMAND, "run", "-q", *options, "-o", self.run_directory, "--", python, PROGRAM,
                                str(seconds), **settings)
        return json.loads(output)

    def stacks(self):
        report = json.loads(self.output_of(COMMAND, "report", self.run_directory, "--json"))
        self.assertEqual(len(report["processes"]), 1)
        return report["processes"][0]["stacks"]

    def rows(self, query):
        lines = self.output_of(COMMAND, "sql", self.run_directory, "--csv", query).splitlines()
        return [line.split(",") for line in lines[1:]]

    def test_functions_have_the_share_that_they_took(self):
        for python in PYTHONS:
            with self.subTest(python=python):
                truth = self.profile(python)
                stacks = {row["operation"]: row for row in self.stacks() if not row["start_up"]}
                act = stacks["act"]
                self.assertGreater(act["looks"], 100)
                parts = {row["function"].rpartition(".")[2]: row for row in act["parts"]}
                took = truth["act"]
                share = took["Policy.encode"] / sum(took.values())
                off = SIGMAS * math.sqrt(share * (1 - share) / act["looks"])
                self.assertAlmostEqual(parts["encode"]["share"], share, delta=off)
                self.assertAlmostEqual(parts["sample"]["share"], 1 - share, delta=off)
                self.assertAlmostEqual(parts["encode"]["error"], 1.96 * off / SIGMAS, delta=0.02)
                self.assertEqual(parts["encode"]["file"], PROGRAM)
                self.assertEqual(parts["encode"]["package"], "")
                self.run_directory += "x.gpubound"

    def test_shares_hold_where_looks_come_as_seldom_as_their_cost_asks(self):
        """The program's loop takes about as long as lies between such looks, which must not keep step with it."""
        truth = self.profile(options=("--stacks", "1000"))["act"]
        (act,) = [row for row in self.stacks() if row["operation"] == "act" and not row["start_up"]]
        share = truth["Policy.encode"] / sum(truth.values())
        parts = {row["function"]: row["share"] for row in act["parts"]}
        self.assertAlmostEqual(parts["Policy.encode"], share,
                               delta=SIGMAS * math.sqrt(share * (1 - share) / act["looks"]))

    def test_a_thread_that_waits_is_not_runnable_and_one_that_works_is(self):
        self.profile()
        stacks = {row["operation"]: row for row in self.stacks() if not row["start_up"]}
        self.assertLess(stacks["rest"]["runnable_share"], 0.25)
        self.assertGreater(stacks["act"]["runnable_share"], 0.75)
        self.assertEqual([row["function"] for row in stacks["rest"]["parts"]], ["idle"])
        # The thread that waits all the time is seen as well.
        waiter = self.rows("SELECT sum(looks), sum(runnable) FROM stack_looks JOIN frames ON frames.id = frame "
                           "WHERE function LIKE '%wait%'")
        self.assertGreater(int(waiter[0][0]), 100)
        self.assertLess(int(waiter[0][1]), 0.1 * int(waiter[0][0]))

    def test_lines_are_those_of_the_file(self):
        self.profile(seconds=2)
        with open(PROGRAM, encoding="utf-8") as file:
            lines = file.read().splitlines()
        seen = self.rows("SELECT DISTINCT function, line FROM frames JOIN stack_looks ON frames.id = frame "
                         f"WHERE file = '{PROGRAM}' AND function = 'spin'")
        self.assertTrue(seen)
        begin = lines.index("def spin(seconds):") + 1
        for _, line in seen:
            self.assertIn(int(line), range(begin, begin + 4))

    def test_no_stack_is_looked_at_where_that_is_switched_off(self):
        self.profile(seconds=1, options=("--stacks", "0"))
        self.assertEqual(self.stacks(), [])
        self.assertEqual(self.rows("SELECT * FROM stack_looks"), [])

    def test_more_looks_are_had_for_the_asking(self):
        self.profile(seconds=2, GPUBOUND_STACKS="10")
        few = sum(row["looks"] for row in self.stacks())
        self.run_directory += "x.gpubound"
        self.profile(seconds=2, options=("--stacks", "200"))
        self.assertGreater(sum(row["looks"] for row in self.stacks()), 3 * few)

    def test_the_report_names_the_functions(self):
        self.profile(seconds=4)
        screen = " ".join(self.output_of(COMMAND, "report", self.run_directory).split())
        self.assertRegex(screen, r"In act: Policy\.encode \(stacks\.py:\d+\) \d+ %, Policy\.sample ")
        tree = self.output_of(COMMAND, "report", self.run_directory, "--by", "frame")
        self.assertRegex(tree, r"\n  Policy\.encode +\d+ %")

    def test_stacks_are_exported_for_flame_graphs(self):
        self.profile(seconds=2)
        lines = self.output_of(COMMAND, "export", self.run_directory, "--collapsed", "-").splitlines()
        counts = [int(line.rpartition(" ")[2]) for line in lines]
        self.assertEqual(sum(counts), sum(row["looks"] for row in self.stacks()))
        encode = [line for line in lines if ";act;" in line and ";Policy.act (stacks.py:" in line
                  and ";Policy.encode (stacks.py:" in line]
        self.assertTrue(encode, lines)
        scope = json.loads(self.output_of(COMMAND, "export", self.run_directory, "--speedscope", "-"))
        profile = scope["profiles"][0]
        self.assertEqual(profile["endValue"], sum(counts))
        self.assertEqual(sum(profile["weights"]), sum(counts))
        self.assertEqual(len(profile["weights"]), len(profile["samples"]))
        names = [scope["shared"]["frames"][frame]["name"] for sample in profile["samples"] for frame in sample]
        self.assertIn("Policy.encode", names)

    def test_lines_that_wait_for_the_device_have_their_shares_and_one_that_launches_is_not_named(self):
        script = json.dumps({"device": {"kernels": {"worker_kernel": 4_000_000, "short_kernel": 1_000}}})
        program = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/sync_lines.py"
        truth = json.loads(self.output_of(
            COMMAND, "run", "-q", "--stacks", "1000", "-o", self.run_directory, "--", sys.executable, program, "8",
            LD_LIBRARY_PATH=os.environ["GPUBOUND_TEST_SIM_DIR"], GPUBOUND_SIM_SCRIPT=script))
        report = json.loads(self.output_of(COMMAND, "report", self.run_directory, "--json"))
        seen = {row["line"]: row for row in report["processes"][0]["sync_lines"]}
        (long, long_s), (short, short_s), (launch, launch_s) = ((int(line), took) for line, took in truth.items())
        self.assertGreater(launch_s, 0.5)
        self.assertNotIn(launch, seen)
        looks = sum(row["looks"] for row in seen.values())
        self.assertGreater(looks, 200)
        share = long_s / (long_s + short_s)
        off = SIGMAS * math.sqrt(share * (1 - share) / looks)
        self.assertAlmostEqual(seen[long]["share"], share, delta=off)
        self.assertAlmostEqual(seen[short]["share"], 1 - share, delta=off)
        self.assertEqual([(seen[line]["operation"], seen[line]["function"], seen[line]["file"])
                          for line in (long, short)],
                         [("rollout", "wait_long", program), ("update", "wait_short", program)])
        full = self.output_of(COMMAND, "report", self.run_directory, "--full")
        self.assertRegex(full, rf"\nsync_lines\.py:{long} +\d+ % +wait_long +rollout\n")

    def test_a_program_that_hangs_shows_where_it_hangs(self):
        program = "import sys, threading\nimport gpubound\ndef hang():\n    threading.Event().wait()\n" \
                  "with gpubound.operation('collect'):\n    print('up', flush=True)\n    hang()\n"
        with subprocess.Popen([COMMAND, "run", "-q", "-o", self.run_directory, "--", sys.executable, "-c", program],
                              stdout=subprocess.PIPE, text=True) as running:
            try:
                self.assertEqual(running.stdout.readline(), "up\n")
                pid, text = self.dumped()
                self.assertRegex(text, r"Thread \d+, main.*: waited, [\d.]+ m?s ago\n")
                self.assertRegex(text, r"Event\.wait|wait \(")
                self.assertIn("    hang (<string>:4)\n    <module> (<string>:7)\n", text)
                self.assertEqual(pid, self.output_of(COMMAND, "sql", self.run_directory, "--csv",
                                                     "SELECT pid FROM process").split()[-1])
            finally:
                running.terminate()  # which hands it on

    def dumped(self):
        """The stacks once hang() is among them, and the process that they are of."""
        for _ in range(200):
            done = subprocess.run([COMMAND, "dump", self.run_directory], capture_output=True, text=True, timeout=60,
                                  check=False)
            if "hang" in done.stdout:
                return re.search(r"\(pid (\d+)\)", done.stdout).group(1), done.stdout
            time.sleep(0.1)
        self.fail(f"no stack came: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    unittest.main()
