# SPDX-License-Identifier: Apache-2.0
"""Hooks on every class derived from one: which method runs stays what it was, and no class statement fails
because of us."""
import gc
import types
import unittest
import unittest.mock
import weakref

from gpubound import _core, _failures, _hooks, _replacing, _roles
from recorded import RecordedTest, scope, take

STEP = {"module": "sample", "class": "Env", "names": ["step"], "subclasses": True,
        "operation": "simulation"}


def hooked_environment(hook=STEP):
    """A class like gymnasium's Env, of a library that is hooked."""
    class Env:
        def step(self):
            return "Env"
    _hooks.install_hook({**STEP, **hook}, types.SimpleNamespace(Env=Env))
    take()
    return Env


def fresh_mixin():
    """A class that is derived from no hooked one."""
    class Mixin:
        def step(self):
            return "Mixin"
    return Mixin


class MixinTest(RecordedTest):
    def test_the_method_that_comes_first_without_us_runs(self):
        environment, mixin = hooked_environment(), fresh_mixin()

        class Better(mixin):
            def step(self):
                return "Better"

        class First(mixin, environment):
            pass

        class Both(First, Better):
            pass
        self.assertEqual([First().step(), Both().step()], ["Mixin", "Better"])
        self.assert_recorded(*scope("simulation"), *scope("simulation"))
        self.assertEqual([mixin().step(), Better().step()], ["Mixin", "Better"])
        self.assert_recorded()

    def test_a_method_that_the_program_replaces_is_replaced(self):
        environment, mixin = hooked_environment(), fresh_mixin()

        class First(mixin, environment):
            pass
        with unittest.mock.patch.object(mixin, "step", lambda self: "patched"):
            self.assertEqual(First().step(), "patched")
        take()
        self.assertEqual(First().step(), "Mixin")
        self.assert_recorded(*scope("simulation"))

    def test_one_that_was_replaced_is_hooked_with_the_next_class(self):
        environment, mixin = hooked_environment(), fresh_mixin()
        for result in ("one", "two"):
            mixin.step = lambda self, result=result: result

            class Next(mixin, environment):
                pass
            self.assertEqual(Next().step(), result)
            self.assert_recorded(*scope("simulation"))

    def test_a_mixin_of_classes_of_two_libraries_is_hooked_for_each(self):
        mixin = fresh_mixin()

        class First(mixin, hooked_environment()):
            pass

        class Second(mixin, hooked_environment({"operation": "rollout"})):
            pass

        class Again(First):
            pass
        Again().step()
        self.assert_recorded(*scope("simulation"))
        Second().step()
        self.assert_recorded(*scope("rollout"))

    def test_a_class_method_of_a_mixin_is_hooked_for_derived_classes(self):
        class Shared:
            @classmethod
            def step(cls):
                return cls

        class First(Shared, hooked_environment()):
            pass
        self.assertEqual([First.step(), First().step()], [First, First])
        self.assert_recorded(*scope("simulation"), *scope("simulation"))
        self.assertIs(Shared.step(), Shared)
        self.assert_recorded()

    def test_a_static_method_of_a_mixin_is_left_alone(self):
        class Shared:
            step = staticmethod(lambda: "static")

        class First(Shared, hooked_environment()):
            pass
        self.assertEqual([First.step(), First().step()], ["static", "static"])
        self.assert_recorded()

    def test_a_mixin_that_nobody_keeps_is_freed(self):
        class Shared:
            def step(self):
                return __class__  # which makes the method refer to it

        class First(Shared, hooked_environment()):
            pass
        self.assertIs(First().step(), Shared)
        kept = weakref.ref(Shared)
        del Shared, First
        gc.collect()
        self.assertIsNone(kept())

    def test_a_mixin_that_cannot_be_changed_is_noted(self):
        class First(dict, hooked_environment({"names": ["update"]})):
            pass
        first = First()
        first.update(key=1)
        self.assertEqual(first, {"key": 1})
        self.assertRegex("\n".join(take()), "ledger hooks_failed 1 Env: class .*First is not hooked: TypeError")

    def test_a_choice_needs_a_class_and_a_callable(self):
        for helper in (None, (3, len), (int, 3), (int,)):
            with self.assertRaisesRegex(TypeError, "a tuple of a class and a callable"):
                _core.watch(len, 0, False, _roles.CHOOSES, helper)


class FailureTest(RecordedTest):
    def setUp(self):
        super().setUp()
        _failures._told.clear()

    def test_a_metaclass_that_refuses_changes_fails_no_class_statement(self):
        class Frozen(type):
            def __setattr__(cls, name, value):
                raise TypeError("classes are frozen")

        class Own(hooked_environment(), metaclass=Frozen):
            def step(self):
                return "Own"
        self.assertEqual(Own().step(), "Own")
        failure, = take()
        self.assertRegex(failure, "ledger hooks_failed 1 Env: class .*Own is not hooked: "
                                  "TypeError: classes are frozen")

    def test_what_the_programs_own_init_subclass_raises_is_the_programs(self):
        class Strict(hooked_environment()):
            def __init_subclass__(cls, key):
                raise ValueError(key)
        with self.assertRaisesRegex(ValueError, "theirs"):
            class Own(Strict, key="theirs"):
                pass


class FinishedClassTest(RecordedTest):
    def test_methods_that_come_after_the_class_are_hooked_when_it_is_finished(self):
        own = type("Own", (hooked_environment(),), {})
        own.step = lambda self: "Own"
        _replacing.hook_finished_class(own)
        self.assertEqual(own().step(), "Own")
        self.assert_recorded(*scope("simulation"))

    def test_other_classes_are_left_alone(self):
        class Other:
            def step(self):
                return "Other"
        step = vars(Other)["step"]
        hooked_environment()
        _replacing.hook_finished_class(Other)
        self.assertIs(vars(Other)["step"], step)


if __name__ == "__main__":
    unittest.main()
