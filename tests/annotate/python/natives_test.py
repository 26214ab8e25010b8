# SPDX-License-Identifier: Apache-2.0
"""All native functions, methods and subscripts of a library as a layer."""
import array
import collections
import ctypes
import sys
import types
import unittest
import unittest.mock

from gpubound import _core, _natives
from recorded import RecordedTest, set_ended


class NativesTest(RecordedTest):
    """A library whose native functions lie in a module of their own, under several names."""

    def setUp(self):
        super().setUp()
        self.native, self.public = types.ModuleType("native"), types.ModuleType("public")
        self.native.total = self.public.total = self.public.same = sum
        self.native.is_odd = self.public.is_odd = bool.__and__
        modules = {"native": self.native, "public": self.public, "base": types.ModuleType("base")}
        unittest.mock.patch.dict("sys.modules", modules).start()
        self.addCleanup(unittest.mock.patch.stopall)

    def layer(self, name):
        return [f"begin layer(5) {name}", f"end layer(5) {name}"]

    def calls(self, *holders, sources=("native",), take=("[!_]*", "__*__"), **others):
        calls = _natives.NativeCalls({
            "module": "public", "layer": "backend",
            "natives": {"sources": list(sources), "holders": list(holders),
                        "take": list(take), "leave": ["is_*"], **others}})
        self.addCleanup(calls.restore)
        return calls

    def test_each_name_of_a_native_function_leads_to_one_wrapper(self):
        self.assertEqual(self.calls("public").install(), 2)
        self.assertIs(self.public.total, self.public.same)
        self.assertEqual(self.public.same([1, 2]), 3)
        self.assert_recorded("begin layer(5) native.total", "end layer(5) native.total")

    def test_what_is_left_out_stays_itself(self):
        self.calls("public").install()
        self.assertIsNone(_core.wrapped(self.public.is_odd))

    def test_methods_of_a_native_base_are_shadowed_and_come_back(self):
        class Derived(collections.deque):
            pass
        sys.modules["base"].Derived = Derived
        calls = self.calls("base.Derived", sources=())
        self.assertGreater(calls.install(), 10)
        Derived([1, 2]).rotate(1)
        self.assert_recorded("begin layer(5) Derived.rotate", "end layer(5) Derived.rotate")
        calls.restore()
        self.assertNotIn("rotate", vars(Derived))

    def test_calls_of_a_native_class_are_counted_and_a_derived_one_may_call_its_new(self):
        sys.modules["base"].Number = ctypes.c_int  # which has a metaclass of its own

        class Derived(ctypes.c_int):
            def __new__(cls, value):
                return ctypes.c_int.__new__(cls, value)
        calls = self.calls("base", sources=(), take=["none"], constructors=["base.Number"])
        # From 3.13 on the metaclasses of ctypes are such as Python makes; by the stable ABI 3.9 does not show the slots
        # of others.
        is_hidden = sys.version_info < (3, 10) and _core.__file__.endswith(".abi3.so")
        found = 0 if sys.version_info >= (3, 13) or is_hidden else 1
        self.assertEqual(calls.install(), found)
        self.assertEqual(ctypes.c_int(5).value, 5)
        with self.assertRaises(TypeError):
            ctypes.c_int("five")
        self.assertEqual(Derived(6).value, 6)
        self.assert_recorded(*self.layer("base.Number") * 3 * found)
        calls.restore()
        self.assertEqual(ctypes.c_int(5).value, 5)
        self.assert_recorded()

    def test_subscripts_of_a_native_base_are_counted_where_no_class_has_its_own(self):
        class Derived(array.array):
            pass

        class Inheriting(Derived):
            pass

        class Own(Derived):
            def __getitem__(self, key):
                return -1
        sys.modules["base"].Derived = Derived
        calls = self.calls("base.Derived", sources=(), take=["none"], subscripts="base.Derived")
        self.assertEqual(calls.install(), 2)
        for cls in (Derived, Inheriting):
            numbers = cls("i", [1, 2, 3])
            self.assertEqual(numbers[1], 2)
            self.assert_recorded(*self.layer("Derived.__getitem__"))
            numbers[1] = 7
            del numbers[0]
            self.assertEqual(list(numbers), [7, 3])
            self.assert_recorded(*2 * self.layer("Derived.__setitem__"))
            with self.assertRaises(IndexError):
                numbers[9]  # pylint: disable=pointless-statement
            self.assert_recorded(*self.layer("Derived.__getitem__"))
        self.assertEqual(Own("i", [1])[0], -1)
        self.assertNotIn("__getitem__", vars(Derived))

        class Later(Derived):
            pass
        later = Later("i", [1])
        self.assertEqual(later[0], 1)
        self.assert_recorded()
        calls.watch_derived(Later)
        self.assertEqual(later[0], 1)
        self.assert_recorded(*self.layer("Derived.__getitem__"))
        calls.restore()
        self.assertEqual([cls("i", [1])[0] for cls in (Derived, Inheriting, Later)], [1, 1, 1])
        self.assert_recorded()

    def test_installing_twice_wraps_once(self):
        first = self.calls("public")
        first.install()
        self.assertEqual(self.calls("public").install(), 0)

    def test_behind_the_end_of_the_recording_the_next_step_puts_everything_back(self):
        first, second = ({"module": "public", "layer": "backend",
                          "natives": {"sources": [source], "holders": ["public"],
                                      "take": ["[!_]*"], "leave": ["is_*"]}}
                         for source in ("native", "further"))
        sys.modules["further"] = types.ModuleType("further")
        sys.modules["further"].longest = self.public.longest = max
        self.assertEqual(_natives.install(first) + _natives.install(second), 3)
        self.addCleanup(set_ended, False)
        _core.step(None)
        self.assertIsNotNone(_core.wrapped(self.public.total))
        set_ended(True)
        self.assertIsNotNone(_core.wrapped(self.public.total))
        _core.step(None)
        self.assertIs(self.public.total, sum)
        self.assertIs(self.public.same, sum)
        self.assertIs(self.public.longest, max)
        _core.step(None)

    def test_what_fails_at_the_end_is_not_the_programs_business(self):
        self.addCleanup(set_ended, False)
        set_ended(True)
        calls = []

        def fail():
            calls.append(None)
            raise ValueError("ours")
        _core.at_end(fail)
        _core.step(None)
        _core.step(None)
        self.assertEqual(len(calls), 1)

    def test_what_ends_the_program_meanwhile_does_and_the_rest_comes_later(self):
        self.addCleanup(set_ended, False)
        set_ended(True)
        raised = [SystemExit(3), KeyboardInterrupt()]
        calls = []

        def be_interrupted():
            calls.append(None)
            if raised:
                raise raised.pop()
        _core.at_end(be_interrupted)
        for expected in (KeyboardInterrupt, SystemExit):
            with self.assertRaises(expected):
                _core.step(None)
        _core.step(None)
        _core.step(None)
        self.assertEqual(len(calls), 3)

    def test_functions_can_be_given_back_alone(self):
        calls = self.calls("public")
        calls.install()
        calls.restore_functions()
        self.assertIs(self.public.total, sum)


if __name__ == "__main__":
    unittest.main()
