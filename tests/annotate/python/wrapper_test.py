# SPDX-License-Identifier: Apache-2.0
"""Wrapped callables are the callables that they wrap, in all but the layer around their calls."""
import collections
import collections.abc
import copy
import datetime
import functools
import gc
import inspect
import json
import pickle
import sys
import types
import unittest
import unittest.mock
import weakref

import gpubound
from gpubound import _core, _pickling, _roles
from recorded import RecordedTest, take

LABEL = gpubound.layer("simulator", "step").label
CALL = ("begin layer(4) step", "end layer(4) step")


def documented(value: int, /, *, scale: float = 1.0) -> float:
    """Multiplies."""
    return value * scale


class Ring(collections.deque):
    rotate = _core.wrap(collections.deque.rotate, LABEL, True)


plain = documented
documented = _core.wrap(plain, LABEL, True)


class WrapperTest(RecordedTest):
    @unittest.skipIf(sys.version_info < (3, 10), "no class of an extension is immutable before")
    def test_the_types_cannot_be_changed(self):
        # Only then does the interpreter keep what it found for a method where the program names it.
        for wrapper_type in (_core.Wrapper, _core.ObjectWrapper, _core.FunctionWrapper, _core.DescriptorWrapper):
            with self.assertRaisesRegex(TypeError, "immutable"):
                wrapper_type.changed = 1

    def test_a_call_passes_everything_on(self):
        self.assertEqual(documented(3, scale=2.0), 6.0)
        self.assert_recorded(*CALL)

    def test_it_looks_like_what_it_wraps(self):
        self.assertEqual(documented.__name__, "documented")
        self.assertEqual(documented.__qualname__, "documented")
        self.assertEqual(documented.__module__, __name__)
        self.assertEqual(documented.__doc__, "Multiplies.")
        self.assertEqual(inspect.signature(documented), inspect.signature(plain))
        self.assertEqual(repr(documented), repr(plain))
        self.assertIsInstance(documented, types.FunctionType)
        self.assertTrue(inspect.isfunction(documented))
        self.assertIs(documented.__wrapped__, plain)
        self.assertEqual(documented.__annotations__["return"], float)

    def test_an_undecorated_function_is_found_where_it_was(self):
        wrapper = _core.hook(_core.wrap(functools.lru_cache(plain), LABEL, True), LABEL, True, 0, False, None, False)
        self.assertIs(wrapper.__wrapped__, plain)
        self.assertEqual(inspect.signature(wrapper), inspect.signature(plain))

    def test_it_equals_what_it_wraps_in_both_directions(self):
        self.assertEqual(documented, plain)
        self.assertEqual(plain, documented)
        self.assertEqual(documented, _core.wrap(plain, LABEL, True))
        self.assertNotEqual(documented, len)
        self.assertEqual({plain: "found"}[documented], "found")

    def test_attributes_are_those_of_what_it_wraps(self):
        documented.note = "set"
        self.assertEqual(plain.note, "set")
        del documented.note
        self.assertFalse(hasattr(plain, "note"))
        with self.assertRaises(AttributeError):
            documented.missing  # noqa: B018

    def test_it_is_pickled_by_its_name(self):
        self.assertIs(pickle.loads(pickle.dumps(documented)), documented)
        self.assertIs(copy.deepcopy(documented), documented)

    def test_a_native_function_is_pickled_by_the_name_that_its_module_has_for_it(self):
        module = types.ModuleType("native_names")
        original = datetime.datetime.now  # of a class: its qualified name is of no use there
        original.__module__ = module.__name__
        module.now = _core.wrap(original, LABEL, False)
        with unittest.mock.patch.dict("sys.modules", native_names=module):
            self.assertIs(pickle.loads(pickle.dumps(module.now)), module.now)

    def test_a_shadowed_method_is_pickled_as_that_attribute(self):
        rotate = vars(Ring)["rotate"]
        self.assertIs(pickle.loads(pickle.dumps(rotate)), rotate)

    def test_a_function_is_its_own_copy(self):
        nameless = _core.wrap(lambda: 3, LABEL, True)
        self.assertIs(copy.copy(nameless), nameless)
        self.assertIs(copy.deepcopy({"key": nameless})["key"], nameless)

    def test_the_copy_of_what_can_be_copied_is_wrapped_alike(self):
        for wrapper in (_core.wrap(functools.partial(max, [1, 2]), LABEL, False),
                        _core.hook(functools.partial(max, [1, 2]), LABEL, False, 0, False, None, False)):
            for copied in (copy.copy(wrapper), copy.deepcopy(wrapper)):
                self.assertIsNot(copied.__wrapped__, wrapper.__wrapped__)
                take()
                self.assertEqual(copied(), 2)
                self.assert_recorded(*CALL)
            self.assertIsNot(copied.args[0], wrapper.args[0])

    def test_what_cannot_be_copied_raises_as_before(self):
        with self.assertRaisesRegex(TypeError, "cannot pickle 'module' object"):
            copy.deepcopy(_core.wrap(functools.partial(len, sys), LABEL, False))

    def test_one_that_no_name_leads_to_is_pickled_as_what_it_wraps(self):
        wrapped_len = _core.wrap(len, LABEL, False)
        self.assertIs(pickle.loads(pickle.dumps(wrapped_len)), len)

    def test_definitions_that_travel_by_value_travel_unwrapped(self):
        function, arguments = _pickling.reduce_by_value(documented)
        self.assertIs(function(*arguments), plain)

    def test_exceptions_pass_with_their_traceback(self):
        wrapped_loads = _core.wrap(json.loads, LABEL, False)
        try:
            wrapped_loads("{")
        except json.JSONDecodeError as error:
            frames = inspect.getinnerframes(error.__traceback__)
        self.assertEqual(frames[-1].filename, json.decoder.__file__)
        self.assert_recorded(*CALL)

    def test_it_may_be_referenced_weakly_and_collected(self):
        wrapper = _core.wrap(lambda: None, LABEL, False)
        reference = weakref.ref(wrapper)
        wrapper.__wrapped__.cycle = wrapper
        del wrapper
        gc.collect()
        self.assertIsNone(reference())

    def test_one_that_is_replaced_while_it_runs_ends_its_call(self):
        holder = types.SimpleNamespace()

        def replace():
            del holder.call
            gc.collect()
            return "done"
        holder.call = _core.wrap(replace, LABEL, False)
        self.assertEqual(holder.call(), "done")
        self.assert_recorded(*CALL)

    def test_it_is_reentrant(self):
        factorial = _core.wrap(lambda n: 1 if n == 0 else n * holder[0](n - 1), LABEL, False)
        holder = [factorial]
        self.assertEqual(factorial(3), 6)
        self.assert_recorded(*(CALL[0],) * 4, *(CALL[1],) * 4)

    def test_what_cannot_be_called_is_refused(self):
        with self.assertRaisesRegex(TypeError, "callable"):
            _core.wrap(3, LABEL, False)

    def test_references_are_neither_lost_nor_kept(self):
        argument = object()
        before = sys.getrefcount(argument)
        for _ in range(100):
            _core.wrap(id, LABEL, False)(argument)
        self.assertEqual(sys.getrefcount(argument), before)


class Layers:
    """A callable that is a container too, like torch.nn.Sequential."""

    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, value):
        return value

    def __len__(self):
        return len(self.layers)

    def __getitem__(self, index):
        return self.layers[index]

    def __setitem__(self, index, layer):
        self.layers[index] = layer

    def __delitem__(self, index):
        del self.layers[index]

    def __str__(self):
        return "layers"


class ProtocolTest(RecordedTest):
    def test_a_container_stays_one(self):
        wrapper = gpubound.operation("inference")(Layers(1, 2))
        self.assertEqual(wrapper(3), 3)
        self.assert_recorded("begin operation inference", "end operation inference")
        wrapper[0] = 5
        del wrapper[1]
        self.assertEqual((len(wrapper), list(wrapper), 5 in wrapper, 6 in wrapper, wrapper[-1],
                          str(wrapper), bool(wrapper)),
                         (1, [5], True, False, 5, "layers", True))
        self.assertFalse(gpubound.operation("inference")(Layers()))

    def test_what_the_container_lacks_is_missing(self):
        wrapper = _core.wrap(Layers(), LABEL, False)
        self.assertEqual([hasattr(wrapper, name) for name in ("__len__", "__iter__", "__bool__")],
                         [True, False, False])
        with self.assertRaisesRegex(IndexError, "list index out of range"):
            wrapper[0]  # pylint: disable=pointless-statement
        self.assertEqual(copy.deepcopy(wrapper).layers, [])

    def test_what_is_no_container_does_not_become_one(self):
        for callable_ in (len, documented, functools.partial(len)):
            wrapper = _core.wrap(callable_, LABEL, False)
            self.assertNotIsInstance(wrapper, (collections.abc.Sized, collections.abc.Iterable))
            self.assertTrue(wrapper)
            with self.assertRaises(TypeError):
                len(wrapper)
        self.assertEqual(str(_core.wrap(len, LABEL, False)), str(len))


class Traced:
    """A decorator that is told of the object which it is called on, as those made with wrapt are."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        return BoundTraced(self.function, instance)

    def __call__(self, *arguments):
        return "unbound", self.function(*arguments)


class BoundTraced:
    def __init__(self, function, instance):
        self.function, self.instance = function, instance

    def __call__(self, *arguments):
        if self.instance is None:
            return "of class", self.function(*arguments)
        return self.instance, self.function(self.instance, *arguments)


class DescriptorTest(RecordedTest):
    def setUp(self):
        class Environment:
            @gpubound.operation("simulation")
            @Traced
            def step(self, action):
                return action
        self.environment = Environment()
        super().setUp()

    def test_a_decorator_is_told_of_the_object_as_before(self):
        self.assertEqual(self.environment.step(3), (self.environment, 3))
        self.assertEqual(type(self.environment).step(self.environment, 3), ("of class", 3))
        self.assert_recorded(*("begin operation simulation", "end operation simulation") * 2)

    def test_what_it_makes_of_the_attribute_is_what_the_program_sees(self):
        self.assertIs(self.environment.step.instance, self.environment)
        self.assertIsInstance(self.environment.step, BoundTraced)

    def test_around_a_function_it_is_called_as_before(self):
        self.assertEqual(gpubound.operation("work")(Traced(abs))(-3), ("unbound", 3))

    def test_a_hook_leaves_it_the_object_too(self):
        own = vars(type(self.environment))
        hooked = _core.hook(own["step"], LABEL, True, 0, False, None, False)
        type(self.environment).step = hooked
        self.assertEqual(self.environment.step(3), (self.environment, 3))
        self.assert_recorded(CALL[0], "begin operation simulation", "end operation simulation", CALL[1])

    def test_an_attribute_that_cannot_be_called_stays_what_it_is(self):
        class Constant(Traced):
            def __get__(self, instance, owner=None):
                return 7

        class Environment:
            step = gpubound.operation("simulation")(Constant(abs))
        self.assertEqual(Environment().step, 7)

    def test_no_reference_is_lost_or_kept(self):
        before = sys.getrefcount(self.environment)
        for _ in range(100):
            self.environment.step(3)
        self.assertEqual(sys.getrefcount(self.environment), before)


class HelperTest(RecordedTest):
    def wrappers_with(self, helper):
        """By what they are, wrappers of a list's append whose helper is `helper`."""
        calls = []
        wrappers = {"guard": _core.hook(calls.append, LABEL, False, False, False, lambda: helper(None), False)}
        for role in (_roles.WAITS, _roles.RETURNS, _roles.OPENS, _roles.CLOSES, _roles.REPLACES):
            wrappers[role] = _core.watch(calls.append, LABEL, False, role, helper)
        wrappers[_roles.FOLLOWS] = _core.watch(calls.append, LABEL, False, _roles.FOLLOWS, lambda: helper(None))
        return calls, wrappers

    def test_what_helpers_raise_is_not_the_programs_business(self):
        def fail(_):
            raise ValueError("ours")
        calls, wrappers = self.wrappers_with(fail)
        for wrapper in wrappers.values():
            self.assertIsNone(wrapper(1))
        self.assertEqual(len(calls), len(wrappers))

    def test_what_ends_the_program_while_a_helper_runs_ends_it(self):
        for ending in (KeyboardInterrupt, SystemExit):
            def interrupted(_, ending=ending):
                raise ending
            calls, wrappers = self.wrappers_with(interrupted)
            for name, wrapper in wrappers.items():
                with self.assertRaises(ending, msg=name):
                    wrapper(name)
            self.assertEqual(calls, [_roles.RETURNS, _roles.OPENS, _roles.REPLACES, _roles.FOLLOWS],
                             "helpers that come behind the call")


if __name__ == "__main__":
    unittest.main()
