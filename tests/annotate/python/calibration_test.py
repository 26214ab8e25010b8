# SPDX-License-Identifier: Apache-2.0
"""The program that `gpubound calibrate` repeats scopes and calls with."""
import os
import resource
import unittest

from gpubound import _calibration


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class CalibrationTest(unittest.TestCase):
    def setUp(self):
        self.counts = []
        self.known = {"work": self.work}

    def work(self, items):
        self.counts.append(sum(1 for _ in items))
        return 100

    def test_a_turn_begins_with_some_that_are_not_timed(self):
        self.assertEqual(_calibration.answer("run work 50\n", self.known, ""), "2.000")
        self.assertEqual(self.counts[0], _calibration.WARM_UP)
        self.assertEqual(self.counts[-1], 50)

    def test_a_single_one_is_all_that_happens(self):
        # The scheduler may have taken the processor away: then it is repeated.
        _calibration.answer("run work 1\n", self.known, "")
        self.assertEqual(set(self.counts), {1})

    def test_what_is_not_known_is_refused_with_the_reason(self):
        self.assertEqual(_calibration.answer("run other 1\n", self.known, ""),
                         "no there is no such workload")
        self.assertEqual(_calibration.answer("run other 1\n", {}, "no package"), "no no package")
        for line in ("", "run work\n", "run work 0\n", "run work -1\n", "go work 1\n"):
            self.assertTrue(_calibration.answer(line, self.known, "").startswith("no expected"), line)

    @unittest.skipIf("PYTHONMALLOC" in os.environ, "a sanitizer's malloc gives memory back at once")
    def test_other_work_asks_the_system_for_no_memory(self):
        turns = 200
        for _ in range(10):
            _calibration.do_other_work()
        before = page_faults()
        for _ in range(turns):
            _calibration.do_other_work()
        self.assertLess(page_faults() - before, turns)


if __name__ == "__main__":
    unittest.main()
