# SPDX-License-Identifier: Apache-2.0
"""The copies with clocks, and the clocks, without any framework (marked.py, truth_clocks.py, compare.py)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import compare  # noqa: E402
import marked  # noqa: E402
import programs  # noqa: E402

PROGRAM = '''"""A loop."""
from __future__ import annotations
import time

for turn in range(3):
    if turn == 1:
        time.sleep(0.01)
    time.sleep(0.02)
print("done")
'''


class MarkedTest(unittest.TestCase):
    def ran(self, marks, text=PROGRAM):
        """What the clocks say of `text` with `marks`, when it has run."""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "program.py"
            script.write_text(marked.marked(text, marks, "program.py"), encoding="utf-8")
            subprocess.run([sys.executable, script], check=True, capture_output=True,
                           env=dict(os.environ, PYTHONPATH=str(HERE), GPUBOUND_TRUTH=folder))
            return json.loads(next(pathlib.Path(folder).glob("*.json")).read_text(encoding="utf-8"))

    def test_a_copy_has_the_clocks_around_its_lines_and_every_other_line_as_it_was(self):
        copy = marked.marked(PROGRAM, "nap [] time.sleep(0.02)\nloop ]< print(\"done\")\n", "program.py")
        added = [line for line in copy.splitlines() if "truth_clocks" in line]
        self.assertEqual(added, ["import truth_clocks", "    truth_clocks.begin('nap')", "    truth_clocks.end('nap')",
                                 "truth_clocks.loop_ends()"])
        self.assertEqual([line for line in copy.splitlines() if line not in added], PROGRAM.splitlines())

    def test_a_mark_whose_line_is_not_there_once_is_an_error_that_names_it(self):
        for line, found in (("time.sleep(1)", "found it 0 times"), ("pass", "found it 2 times")):
            with self.assertRaisesRegex(marked.MarkError, f"nap \\[\\] {line[:4]}.*{found}"):
                marked.marked(PROGRAM + "pass\npass\n", f"nap [] {line}", "program.py")
        self.assertEqual(marked.marked(PROGRAM + "pass\npass\n", "nap []* pass", "program.py").count("begin('nap')"), 2)

    def test_a_mark_of_another_form_is_an_error(self):
        for mark in ("nap", "nap []", "nap !! pass"):
            with self.assertRaises(marked.MarkError):
                marked.marked(PROGRAM, mark, "program.py")

    def test_clocks_say_how_long_what_is_between_them_took(self):
        clocks = self.ran("loop:own [ for turn in range(3):\nlong [ if turn == 1:\nlong ] time.sleep(0.02)\n"
                          "nap [] time.sleep(0.01)\nnever ] time.sleep(0.02)\nloop ]< print(\"done\")\n")
        self.assertEqual(clocks["loop"], "own")
        self.assertEqual(clocks["count"], {"long": 3, "nap": 1})
        self.assertGreaterEqual(clocks["total_ns"]["long"], 70_000_000)
        self.assertGreaterEqual(clocks["total_ns"]["nap"], 10_000_000)
        self.assertLess(clocks["total_ns"]["long"], clocks["end_ns"] - clocks["begin_ns"])

    def test_what_was_before_the_loop_is_in_no_clock(self):
        clocks = self.ran("loop [ for turn in range(3):\nnap []* time.sleep(0.01)\nloop ]< print(\"done\")\n",
                          PROGRAM.replace("for turn", "time.sleep(0.01)\nfor turn"))
        self.assertEqual(clocks["count"], {"nap": 1})

    def test_an_update_begins_when_the_environment_step_before_it_was_over(self):
        clocks = self.ran("loop [ for step in range(3):\nrollout > simulate()\nsimulation [] simulate()\n"
                          "update > learn()\nloop ]< print(\"done\")\n",
                          "import time\n"
                          "def simulate(): time.sleep(0.02)\n"
                          "def store(): time.sleep(0.04)\n"
                          "def learn(): time.sleep(0.08)\n"
                          "for step in range(3):\n    simulate()\n    store()\n    if step == 1:\n        learn()\n"
                          "print(\"done\")\n")
        total = clocks["total_ns"]
        self.assertEqual(clocks["count"]["update"], 1)
        self.assertAlmostEqual(total["rollout"] + total["update"], clocks["end_ns"] - clocks["begin_ns"],
                               delta=1_000_000)
        self.assertGreaterEqual(total["update"], 120_000_000)  # of step 1: from the end of simulate() on
        self.assertGreaterEqual(total["rollout"], 140_000_000)
        self.assertGreaterEqual(total["between"], 40_000_000)

    def test_the_marks_of_our_own_programs_fit_them(self):
        for program in programs.OWN_PROGRAMS:
            with self.subTest(program=program.name):
                copy = marked.marked(program.script.read_text(encoding="utf-8"), compare.marks_of(program.marks),
                                     program.name)
                compile(copy, program.name, "exec")


class CompareTest(unittest.TestCase):
    CLOCKS = {"loop": "loop", "pid": 7, "begin_ns": 0, "end_ns": 1000, "count": {},
              "total_ns": {"rollout": 400, "update": 600, "inference": 300, "target": 250, "target.call": 200}}

    def shares(self, cells, operations, stages=None):
        process = {"pid": 7, "cells": [{"phase": phase, "operation": name, "ns": ns} for phase, name, ns in cells],
                   "operations": [{"operation": name, "inclusive_wall_ns": ns} for name, ns in operations.items()]}
        return {share.name: share for share in
                compare.shares_of(programs.PROGRAMS["dqn"], [self.CLOCKS], {"processes": [process]},
                                  [dict.fromkeys(compare.STAGES, 0) | (stages or {})])}

    def test_a_share_is_wrong_where_it_is_more_than_two_points_off(self):
        loop = compare.LOOP
        shares = self.shares([(loop, "rollout", 121), (loop, "inference", 279), (loop, "update", 400),
                              (loop, "target", 200), ("truth end", "update", 90), ("(no phase)", "inference", 50)],
                             {"rollout": 421, "update": 690, "inference": 329, "target": 200},
                             {"rollout": 371, "update": 600})  # within the loop
        self.assertEqual({name: round(share.reported, 1) for name, share in shares.items()},
                         {"rollout": 37.1, "inference": 27.9, "update": 60.0, "target": 20.0})
        self.assertEqual([name for name, share in shares.items() if share.fails()], ["rollout", "inference"])

    def test_between_the_call_and_all_that_is_computed_of_it_every_figure_is_right(self):
        loop = compare.LOOP
        for target_ns, fails in ((179, True), (181, False), (225, False), (269, False), (271, True)):
            shares = self.shares([(loop, "target", target_ns), (loop, "update", 1000 - target_ns)],
                                 {"target": target_ns})
            self.assertEqual(shares["target"].fails(), fails, target_ns)

    def test_an_operation_that_no_clock_knows_is_wrong_too(self):
        loop = compare.LOOP
        shares = self.shares([(loop, "optimizer", 30), (loop, "update", 970)], {"optimizer": 30})
        self.assertTrue(shares["optimizer"].fails())

    def test_a_report_of_another_window_than_the_clocks_is_an_error(self):
        with self.assertRaisesRegex(compare.RunError, "took 1000 ns by its clocks and 900 by the report"):
            self.shares([(compare.LOOP, "update", 900)], {"update": 900})


if __name__ == "__main__":
    unittest.main()
