# SPDX-License-Identifier: Apache-2.0
"""gpubound.intercept: which functions it takes, and how it gives them back."""
import collections
import datetime
import math
import types
import unittest

import gpubound
from recorded import RecordedTest


class InterceptTest(RecordedTest):
    def test_native_functions_of_a_module_become_a_layer_and_come_back(self):
        original = math.floor
        interception = gpubound.intercept(math, layer="simulator")
        self.addCleanup(interception.restore)
        self.assertEqual(math.floor(1.5), 1)
        self.assert_recorded("begin layer(4) math.floor", "end layer(4) math.floor")
        interception.restore()
        self.assertIs(math.floor, original)
        self.assertEqual(math.floor(1.5), 1)
        self.assert_recorded()

    def test_native_methods_of_a_class_bind(self):
        class Derived(collections.deque):
            rotate = collections.deque.rotate

        with gpubound.intercept(Derived, layer="backend") as interception:
            self.assertEqual(len(interception), 1)
            queue = Derived([1, 2, 3])
            queue.rotate(1)
            self.assertEqual(list(queue), [3, 1, 2])
        self.assert_recorded("begin layer(5) Derived.rotate", "end layer(5) Derived.rotate")

    def test_an_unknown_layer_is_refused_where_there_is_nothing_to_take_too(self):
        with self.assertRaisesRegex(ValueError, "unknown layer 'simulation'; expected one of python"):
            gpubound.intercept(types.ModuleType("empty"), layer="simulation")

    def test_python_functions_are_taken_only_by_name(self):
        module = types.ModuleType("sample")
        module.own = lambda: None
        self.assertEqual(len(gpubound.intercept(module, layer="backend")), 0)
        with gpubound.intercept(module, layer="backend", names=["own"]):
            module.own()
        self.assert_recorded("begin layer(5) sample.own", "end layer(5) sample.own")

    def test_excluded_and_private_names_are_left_alone(self):
        module = types.ModuleType("sample")
        module.kept = module._private = len
        self.assertEqual(len(gpubound.intercept(module, layer="backend", exclude=["kept"])), 0)

    def test_intercepting_twice_wraps_once(self):
        module = types.ModuleType("sample")
        module.measure = len
        with gpubound.intercept(module, layer="backend"):
            self.assertEqual(len(gpubound.intercept(module, layer="backend")), 0)

    def test_what_somebody_else_replaced_meanwhile_stays(self):
        module = types.ModuleType("sample")
        module.measure = len
        interception = gpubound.intercept(module, layer="backend")
        module.measure = max
        interception.restore()
        self.assertIs(module.measure, max)

    def test_a_class_that_cannot_be_changed_is_named(self):
        interception = gpubound.intercept(datetime.date, layer="backend", names=["weekday"])
        self.assertEqual(len(interception), 0)
        self.assertRegex(interception.failed[0], "^date.weekday: ")

    def test_a_class_in_a_module_is_left_one_and_named(self):
        module = types.ModuleType("sample")
        module.Queue, module.measure = collections.deque, len
        interception = gpubound.intercept(module, layer="backend", names=["Queue", "measure"])
        self.assertEqual(len(interception), 1)
        self.assertIs(module.Queue, collections.deque)
        self.assertEqual(interception.failed, ["sample.Queue: a class; intercept its methods"])

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(TypeError, "a module or a class, not list"):
            gpubound.intercept([], layer="backend")
        with self.assertRaisesRegex(ValueError, "unknown layer"):
            gpubound.intercept(math, layer="gpu")
        with self.assertRaisesRegex(AttributeError, "math has no attribute 'flor'"):
            gpubound.intercept(math, layer="backend", names=["flor"])


if __name__ == "__main__":
    unittest.main()
