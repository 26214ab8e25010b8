# SPDX-License-Identifier: Apache-2.0
"""Counters of PyTorch's memory, of a stand-in for its statistics: no GPU is here."""
import types
import unittest
import unittest.mock

import gpubound
from gpubound import _api, _memory
from recorded import RecordedTest, take, without_numbers

_SAID = ["counter torch_allocated_bytes 100", "counter torch_peak_allocated_bytes 300",
         "counter torch_reserved_bytes 400"]


class MemoryTest(RecordedTest):
    def setUp(self):
        super().setUp()
        self.initialised = True
        self.statistics = {"allocated_bytes.all.current": 100, "allocated_bytes.all.peak": 300,
                           "reserved_bytes.all.current": 400, "num_ooms": 0}
        self.asked = 0
        self.now = 50.0
        for patch in (unittest.mock.patch.object(_api, "after_iterations", []),
                      unittest.mock.patch("time.monotonic", lambda: self.now)):
            patch.start()
            self.addCleanup(patch.stop)
        _memory.install(types.SimpleNamespace(cuda=types.SimpleNamespace(
            is_initialized=lambda: self.initialised, memory_stats=self.memory_stats)))

    def memory_stats(self):
        self.asked += 1
        return self.statistics

    def after_step(self):
        gpubound.step()
        return without_numbers(take())

    def test_the_end_of_an_iteration_says_what_the_allocator_holds(self):
        self.assertEqual(self.after_step(), ["step", *_SAID])

    def test_an_iteration_that_a_hook_ends_says_so_too(self):
        _api.end_iteration()
        self.assertEqual(without_numbers(take()), ["step", *_SAID])

    def test_it_is_asked_ten_times_a_second_at_most(self):
        self.after_step()
        self.now += 0.09
        self.assertEqual(self.after_step(), ["step"])
        self.now += 0.02
        self.assertEqual(self.after_step(), ["step", *_SAID])
        self.assertEqual(self.asked, 2)

    def test_a_program_that_has_not_used_cuda_is_not_made_to(self):
        self.initialised = False
        self.assertEqual(self.after_step(), ["step"])
        self.assertEqual(self.asked, 0)

    def test_an_allocator_without_these_statistics_says_nothing(self):
        self.statistics = {}
        self.assertEqual(self.after_step(), ["step"])

    def test_one_that_fails_does_not_reach_the_program(self):
        with unittest.mock.patch.object(self, "memory_stats", side_effect=RuntimeError("lost")):
            _memory.install(types.SimpleNamespace(cuda=types.SimpleNamespace(
                is_initialized=lambda: True, memory_stats=self.memory_stats)))
            self.now += 1
            calls = self.after_step()
        self.assertEqual(calls[:4], ["step", *_SAID])
        self.assertIn("RuntimeError: lost", calls[4])


if __name__ == "__main__":
    unittest.main()
