# SPDX-License-Identifier: Apache-2.0
"""Ranges that a library lets its users open, as annotations."""
import contextlib
import inspect
import types
import unittest

from gpubound import _hooks
from recorded import RecordedTest


class Range(contextlib.ContextDecorator):
    """Like torch.autograd.profiler.record_function."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        if not isinstance(self.name, str):
            raise TypeError("a name is a str")
        return self

    def __exit__(self, *exception):
        return False


class RangeTest(RecordedTest):
    HOOK = {"module": "lib.profiler", "class": "Range", "names": ["__enter__", "__exit__"],
            "range": "name", "own": ["Optimizer.*#*"]}

    def setUp(self):
        self.range = type("Range", (Range,), dict(vars(Range)))  # one that nobody has wrapped
        module = types.ModuleType("lib.profiler")
        module.Range = self.range
        self.assertEqual(_hooks.install_hook(self.HOOK, module), 2)
        super().setUp()

    @staticmethod
    def annotation(*names):
        return ([f"begin annotation {name}" for name in names] +
                [f"end annotation {name}" for name in reversed(names)])

    def test_a_range_is_an_annotation(self):
        with self.range("rollout") as outer, self.range("act"):
            self.assertIsInstance(outer, self.range)
        self.assert_recorded(*self.annotation("rollout", "act"))

    def test_a_decorated_function_is_one_each_time_it_runs(self):
        @self.range("act")
        def count(number):
            return number and 1 + count(number - 1)
        self.assertEqual(count(1), 1)
        self.assert_recorded(*self.annotation("act", "act"))

    def test_ranges_of_the_library_itself_are_of_its_domain(self):
        for name in ("Optimizer.step#Adam.step", "Optimizer.x"):
            with self.range(name):
                pass
        self.assert_recorded(*self.annotation("lib:Optimizer.step#Adam.step"),
                             *self.annotation("Optimizer.x"))

    def test_an_error_inside_ends_the_range(self):
        with self.assertRaises(KeyError), self.range("act"):
            raise KeyError
        self.assert_recorded(*self.annotation("act"))

    def test_what_does_not_open_is_no_range(self):
        with self.assertRaisesRegex(TypeError, "a name is a str"), self.range(3):
            pass
        self.assert_recorded()

    def test_more_names_than_are_remembered_are_recorded_all_the_same(self):
        names = [f"turn {number}" for number in range(5000)]
        for name in names:
            with self.range(name):
                pass
        self.assert_recorded(*(call for name in names for call in self.annotation(name)))

    def test_names_that_utf_8_cannot_express_are_escaped(self):
        with self.range("\udcff"):
            pass
        self.assert_recorded(*self.annotation("\\udcff"))

    def test_the_source_is_found_as_before(self):
        self.assertEqual(inspect.getsource(self.range.__exit__), inspect.getsource(Range.__exit__))
        self.assertIs(self.range.__enter__.__globals__, globals())
        self.assertTrue(inspect.isfunction(self.range.__enter__))


if __name__ == "__main__":
    unittest.main()
