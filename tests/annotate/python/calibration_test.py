# SPDX-License-Identifier: Apache-2.0
"""The program that `gpubound calibrate` repeats scopes and calls with."""
import itertools
import os
import resource
import time
import unittest
from unittest import mock

from gpubound import _calibration


def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def spin_until(end_ns):
    while time.perf_counter_ns() < end_ns:
        pass


class CalibrationTest(unittest.TestCase):
    def setUp(self):
        self.counts = []
        self.known = {"work": self.work, "amid_work": lambda items: _calibration.Took(12.5, -0.25)}

    def work(self, items):
        self.counts.append(sum(1 for _ in items))
        return 100

    def find(self, name):
        if name not in self.known:
            raise LookupError("no package")
        return self.known[name]

    def test_a_turn_begins_with_some_that_are_not_timed(self):
        self.assertEqual(_calibration.answer("run work 50\n", self.find), "2.000")
        self.assertEqual(self.counts[0], _calibration.WARM_UP)
        self.assertEqual(self.counts[-1], 50)

    def test_a_single_one_is_all_that_happens(self):
        # The scheduler may have taken the processor away: then it is repeated.
        _calibration.answer("run work 1\n", self.find)
        self.assertEqual(set(self.counts), {1})

    def test_what_is_not_known_is_refused_with_the_reason(self):
        self.assertEqual(_calibration.answer("run other 1\n", self.find), "no no package")
        for line in ("", "run work\n", "run work 0\n", "run work -1\n", "go work 1\n"):
            self.assertTrue(_calibration.answer(line, self.find).startswith("no expected"), line)

    def test_what_has_other_work_around_it_tells_of_both(self):
        self.assertEqual(_calibration.answer("run amid_work 64\n", self.find), "12.500 -0.250")

    def test_knows_its_workloads_and_refuses_others(self):
        known = _calibration.Workloads("")
        for name in ("empty", "operation", "call", "counter", "operation_between", "call_between"):
            known.find(name)
        with self.assertRaisesRegex(LookupError, "there is no such workload"):
            known.find("other")

    # On the simulated device: tests/integration.
    def test_says_why_there_is_no_cuda(self):
        with mock.patch("ctypes.CDLL", side_effect=OSError("no such file")) as load:
            known, loads = _calibration.Workloads(""), []
            for name in ("cudaLaunchKernel_between", "cudaMemcpyAsync_between"):
                with self.assertRaisesRegex(LookupError, r"no CUDA runtime \(libcudart.so\) was found"):
                    known.find(name)
                loads.append(load.call_count)
        self.assertEqual(loads[0], loads[1], "it is looked for once")

    def test_a_call_counts_by_what_it_makes_other_work_longer_too(self):
        has_called = []

        def call():
            has_called.append(True)
            spin_until(time.perf_counter_ns() + 20_000)

        def work():
            # Longer behind a call than otherwise.
            if has_called:
                has_called.clear()
                spin_until(time.perf_counter_ns() + 200_000)

        with mock.patch.object(_calibration, "OTHER_WORK", (work,) * len(_calibration.OTHER_WORK)):
            took = _calibration.amid_other_work(call, (), 4 * _calibration.TURNS)
        self.assertGreaterEqual(took.alone_ns, 20_000)
        self.assertGreaterEqual(took.whole_ns, took.alone_ns + 200_000)

    def test_every_piece_of_other_work_is_done_as_often(self):
        done = []
        pieces = tuple(lambda piece=piece, done=done: done.append(piece) for piece in _calibration.OTHER_WORK)
        with mock.patch.object(_calibration, "OTHER_WORK", pieces):
            _calibration.amid_other_work(lambda: None, (), 3 * _calibration.TURNS)
        self.assertEqual({done.count(piece) for piece in _calibration.OTHER_WORK}, {3})

    def test_a_few_pieces_of_other_work_lie_between_two_wrapped_calls(self):
        # Between two are as many as between a framework's: with all of them a wrapped call costs more than it
        # does in a program, most where the second cache is small. The clock's own cost is timed as far apart.
        for name in ("operation_between", "call_between"):
            done, rounds = [], 2 * _calibration.TURNS
            pieces = tuple(lambda piece=piece, done=done: done.append(piece) for piece in _calibration.OTHER_WORK)
            with mock.patch.object(_calibration, "OTHER_WORK", pieces):
                _calibration.Workloads("").find(name)(range(rounds))
            self.assertEqual(len(done), 2 * rounds * _calibration.PIECES, name)
            self.assertEqual({done.count(piece) for piece in _calibration.OTHER_WORK}, {4}, name)

    @unittest.skipIf("PYTHONMALLOC" in os.environ, "a sanitizer's malloc gives memory back at once")
    def test_other_work_asks_the_system_for_no_memory(self):
        turns, work = 200, itertools.cycle(_calibration.OTHER_WORK)
        for _ in range(10):
            _calibration.do_other_work(work)
        before = page_faults()
        for _ in range(turns):
            _calibration.do_other_work(work)
        self.assertLess(page_faults() - before, turns)


if __name__ == "__main__":
    unittest.main()
