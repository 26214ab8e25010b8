# SPDX-License-Identifier: Apache-2.0
"""What hook files do to the modules that they name."""
import json
import os
import pathlib
import types
import unittest
import unittest.mock

import gpubound
from gpubound import _api, _core, _hooks, _lists, _loop, _versions
from recorded import RecordedTest, scope, take, take_with_domains, without_numbers

STEP = {"module": "sample", "class": "Env", "names": ["step"], "subclasses": True,
        "operation": "simulation"}


def sample():
    """A module like gymnasium.core."""
    module = types.ModuleType("sample")

    class Env:
        def step(self, action):
            return action

    class Wrapper(Env):
        def __init__(self, env):
            self.env = env

        def step(self, action):
            return self.env.step(action) + 1

    def reset():
        return "reset"
    module.Env, module.Wrapper, module.reset = Env, Wrapper, reset
    return module


def library(*hooks, versions=">=3"):
    return _hooks.Library({"library": "python", "versions": versions, "hooks": list(hooks)})


class InstallTest(RecordedTest):
    def test_methods_of_a_class_and_of_its_subclasses_become_an_operation(self):
        module = sample()
        library(STEP).install(module)
        self.assert_recorded("ledger hooks_installed 2 2 functions of sample")
        self.assertEqual(module.Env().step(3), 3)
        self.assert_recorded(*scope("simulation"))

    def test_a_compiler_is_told_once_what_to_leave_alone(self):
        module, left = types.ModuleType("compiler"), []
        module.leave = left.append
        library({"module": "compiler", "names": ["leave"], "spares": "gpubound"}).install(module)
        self.assertEqual((left, module.leave.__self__), (["gpubound"], left))
        library({"module": "compiler", "names": ["gone"], "spares": "gpubound"}).install(module)
        self.assertRegex(take()[-1], "ledger hooks_failed 1 python: .*no attribute 'gone'")

    def test_classes_derived_later_are_hooked_too(self):
        module = sample()
        library(STEP).install(module)
        told = []

        class Own(module.Env):
            def __init_subclass__(cls, **keywords):
                told.append(keywords)
                super().__init_subclass__()

            def step(self, action):
                return -action

        class Derived(Own, key=1):
            def step(self, action):
                return super().step(action)
        take()
        self.assertEqual(Derived().step(3), -3)
        self.assert_recorded(*scope("simulation"))
        self.assertEqual(told, [{"key": 1}])

    def test_methods_that_a_mixin_brings_are_hooked_where_they_become_the_classs(self):
        module = sample()

        class Mixin:
            def step(self, action):
                return action + 1

        class Earlier(Mixin, module.Env):
            pass
        library({"module": "sample", "class": "Env", "names": ["step"], "subclasses": True,
                 "operation": "simulation"}).install(module)

        class Later(Mixin, module.Env):
            pass
        take()
        self.assertEqual([Earlier().step(1), Later().step(2)], [2, 3])
        self.assert_recorded(*scope("simulation"), *scope("simulation"))
        self.assertEqual(Mixin().step(1), 2)
        self.assert_recorded()

    def test_a_hook_inside_the_same_operation_counts_once(self):
        module = sample()
        library(STEP).install(module)
        take()
        self.assertEqual(module.Wrapper(module.Wrapper(module.Env())).step(1), 3)
        self.assert_recorded(*scope("simulation"))

    def test_a_hook_directly_inside_the_programs_own_operation_of_that_name_opens_none(self):
        module, asked = sample(), []
        module.guard = lambda: asked.append("asked")
        unittest.mock.patch.dict("sys.modules", sample=module).start()
        self.addCleanup(unittest.mock.patch.stopall)
        library({**STEP, "unless": "sample.guard"}).install(module)
        take()
        with gpubound.operation("simulation"):
            self.assertEqual(module.Wrapper(module.Env()).step(1), 2)
            with gpubound.operation("inner"):
                module.Env().step(1)
        self.assert_recorded("begin operation simulation", "begin operation inner", *scope("simulation"),
                             "end operation inner", "end operation simulation")
        self.assertEqual(asked, ["asked"] * 2)

    def test_functions_of_a_module_become_a_layer(self):
        module = sample()
        library({"module": "sample", "names": ["reset"], "layer": "wait"}).install(module)
        self.assertEqual(module.reset(), "reset")
        self.assert_recorded("ledger hooks_installed 1 1 functions of sample", "begin layer(2) sample.reset",
                             "end layer(2) sample.reset")

    def test_a_static_method_stays_one(self):
        module = sample()
        library(STEP).install(module)

        class Static(module.Env):
            @staticmethod
            def step(action):
                return -action
        take()
        self.assertEqual((Static.step(3), Static().step(3)), (-3, -3))
        self.assert_recorded(*scope("simulation"), *scope("simulation"))
        self.assertIs(type(vars(Static)["step"]), staticmethod)

    def test_a_class_method_gets_its_class(self):
        module = sample()
        library(STEP).install(module)

        class Shared(module.Env):
            @classmethod
            def step(cls, action):
                return cls, action
        take()
        self.assertEqual((Shared.step(3), Shared().step(3)), ((Shared, 3), (Shared, 3)))
        self.assert_recorded(*scope("simulation"), *scope("simulation"))

    def test_a_static_method_of_a_type_of_its_own_is_left_alone(self):
        class Registered(staticmethod):
            def __init__(self, function, registry):
                super().__init__(function)
                registry.append(function)
        module = sample()
        library(STEP).install(module)
        registry = []

        class Static(module.Env):
            step = Registered(abs, registry)
        take()
        self.assertEqual((Static().step(-3), registry), (3, [abs]))
        self.assert_recorded()

    def test_installing_twice_wraps_once(self):
        module = sample()
        module.Env.reset = staticmethod(module.reset)
        hook = {**STEP, "names": ["step", "reset"]}
        library(hook).install(module)
        take()
        library(hook).install(module)
        module.Env().reset()
        self.assert_recorded(*scope("simulation"))
        module.Env().step(3)
        self.assert_recorded(*scope("simulation"))

    def test_an_alone_hook_opens_only_outside_of_others(self):
        module = sample()
        reset = {"module": "sample", "names": ["reset"], "operation": "inference", "alone": True}
        library(STEP, reset).install(module)
        take()

        class Resetting(module.Env):
            def step(self, action):
                return module.reset()
        Resetting().step(0)
        module.reset()
        self.assert_recorded(*scope("simulation"), *scope("inference"))

    def test_a_role_is_recorded_when_it_changes_and_the_programs_own_word_counts(self):
        module = sample()
        library({**STEP, "role": "rollout"},
                {"module": "sample", "names": ["reset"], "role": "train"}).install(module)
        take()
        with unittest.mock.patch.object(_api, "_role_by_program", 0), \
             unittest.mock.patch.object(_api, "_role_taken", (0, "")):
            self.assertEqual(module.Env().step(3), 3)
            module.Env().step(4)
            self.assertEqual(module.reset(), "reset")
            self.assert_recorded("counter role:rollout 1", *scope("simulation"), *scope("simulation"),
                                 "counter role:train 1")
            gpubound.role("reward")
            module.Env().step(5)
            self.assert_recorded("counter role:reward 1", *scope("simulation"))

    def test_a_role_that_there_is_not_is_in_the_ledger(self):
        library({"module": "sample", "names": ["reset"], "role": "critic"}).install(sample())
        self.assertTrue(any("expected one of environment, rollout" in line for line in take()))

    def test_a_field_that_there_is_not_is_in_the_ledger(self):
        library({**STEP, "operatoin": "simulation"}).install(sample())
        self.assertIn("unknown field operatoin; docs/python.md, Hook files, has all", take()[0])

    def test_a_hook_that_says_nothing_of_a_call_is_in_the_ledger(self):
        library({"module": "sample", "names": ["reset"]}).install(sample())
        self.assertIn("it says nothing of what a call is; expected operation, layer", take()[0])

    def test_a_call_may_be_an_operation_a_turn_and_of_a_role(self):
        module = sample()
        library({**STEP, "role": "train", "iteration": "turn"}).install(module)
        take()
        with unittest.mock.patch.object(_api, "_role_by_program", 0), \
             unittest.mock.patch.object(_api, "_role_taken", (0, "")):
            module.Env().step(3)
        self.assertEqual(without_numbers(take()), ["counter role:train 1", *scope("simulation"), "step"])
        _loop.end_iterations()
        take()

    def test_an_unless_hook_asks_before_each_call(self):
        module = sample()
        answers = [True, False, True]
        module.declines = answers.pop
        unittest.mock.patch.dict("sys.modules", sample=module).start()
        self.addCleanup(unittest.mock.patch.stopall)
        library({"module": "sample", "names": ["reset"], "operation": "inference",
                 "unless": "sample.declines"}).install(module)
        take()
        for _ in range(4):  # the last one finds the list empty, which raises: not our business
            self.assertEqual(module.reset(), "reset")
        self.assert_recorded(*scope("inference"), *scope("inference"))

    def test_what_is_refused_says_nothing_of_the_loop(self):
        module = sample()
        answers = [False, True]
        module.declines, module.step = answers.pop, module.reset
        unittest.mock.patch.dict("sys.modules", sample=module).start()
        self.addCleanup(unittest.mock.patch.stopall)
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)
        library({"module": "sample", "names": ["step"], "operation": "simulation", "loop": "rollout",
                 "unless": "sample.declines"}).install(module)
        take()
        module.step()
        self.assert_recorded()
        module.step()
        self.assert_recorded("begin operation stage:rollout", *scope("simulation"))

    def test_what_a_hook_names_is_known_from_what_the_program_names(self):
        module = sample()
        library({"module": "sample", "names": ["reset"], "operation": "simulation"}).install(module)
        take()
        module.reset()
        with _core.operation("simulation"):
            pass
        self.assertEqual(take_with_domains(), scope("rules:simulation") + scope("simulation"))

    def test_a_reset_alone_begins_no_rollout(self):
        module = sample()
        module.step = lambda: None
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)
        library({"module": "sample", "names": ["reset", "step"], "operation": "simulation",
                 "loop": "rollout"}).install(module)
        take()
        module.reset()
        self.assert_recorded(*scope("simulation"))
        module.step()
        self.assert_recorded("begin operation stage:rollout", *scope("simulation"))

    def test_an_asynchronous_method_is_its_operation_while_it_runs(self):
        module = sample()
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)
        library({**STEP, "loop": "rollout"}).install(module)
        take()

        class Own(module.Env):
            async def step(self, action):
                with gpubound.operation("physics"):
                    await types.coroutine(lambda: (yield))()
                return action

        class Wrapper(module.Env):
            async def step(self, action):
                return await Own().step(action)
        running = Wrapper().step(3)
        self.assert_recorded()
        running.send(None)
        self.assert_recorded("begin operation stage:rollout", *scope("simulation", "physics"))
        with self.assertRaises(StopIteration) as stop:
            running.send(None)
        self.assertEqual(stop.exception.value, 3)
        self.assert_recorded(*scope("simulation", "physics"))

    def test_a_name_that_is_missing_is_in_the_ledger_and_the_others_are_hooked(self):
        module = sample()
        missing = {"module": "sample", "names": ["gone"], "layer": "wait"}
        library(missing, STEP).install(module)
        failure, installed = take()
        self.assertRegex(failure, "^ledger hooks_failed 1 python: .*no function gone$")
        self.assertEqual(installed, "ledger hooks_installed 2 2 functions of sample")

    def test_a_class_that_has_none_of_the_names_is_in_the_ledger(self):
        library({"module": "sample", "class": "Env", "names": ["gone"],
                 "layer": "simulator"}).install(sample())
        self.assertRegex(take()[0], "^ledger hooks_failed 1 python: .*Env has no gone$")

    def test_another_version_is_not_hooked_and_named(self):
        module = sample()
        library(STEP, versions="<3").install(module)
        self.assertRegex(take()[0], "^ledger hooks_failed 1 python 3[.0-9]* is not hooked: its "
                                    "hooks were written for <3$")
        module.Env().step(3)
        self.assert_recorded()

    def test_a_fork_child_begins_outside_of_every_hook(self):
        module = sample()
        library(STEP).install(module)
        read_end, write_end = os.pipe()

        class Forking(module.Env):
            def step(self, action):
                if os.fork() == 0:
                    _core.after_fork_in_child()
                    take()
                    module.Env().step(0)
                    os.write(write_end, "\n".join(take()).encode())
                    os._exit(0)
                os.wait()
        Forking().step(0)
        self.assertEqual(os.read(read_end, 1000).decode().splitlines(), scope("simulation"))


class SharedListTest(RecordedTest):
    def installed(self, hook, **lists):
        """What the ledger says of installing `hook`, of a file with `lists`, and the module."""
        module = sample()
        description = {"library": "python", "versions": ">=3", "hooks": [hook]}
        _hooks.Library({**description, **({"lists": lists} if lists else {})}).install(module)
        return take()[0], module

    def test_a_reference_stands_for_all_items_of_the_list(self):
        said, module = self.installed({**STEP, "names": ["gone", "@steps"]}, steps=["stop", "step"])
        self.assertEqual(said, "ledger hooks_installed 2 2 functions of sample")
        module.Env().step(3)
        self.assert_recorded(*scope("simulation"))

    def test_a_reference_to_no_list_is_in_the_ledger_with_the_lists_that_there_are(self):
        hook = {**STEP, "names": ["@step"]}
        self.assertIn("'@step' is none of the file's lists, which are: resets, steps",
                      self.installed(hook, steps=["step"], resets=["reset"])[0])
        self.assertIn("'@step' is none of the file's lists, which are: none", self.installed(hook)[0])

    def test_a_list_that_refers_to_another_one_is_in_the_ledger(self):
        self.assertIn("the list 'all' refers to @steps; a list holds names only",
                      self.installed({**STEP, "names": ["@all"]}, all=["@steps"], steps=["step"])[0])

    def test_a_list_that_is_none_is_in_the_ledger(self):
        self.assertIn("the list 'steps' is no list of strings",
                      self.installed({**STEP, "names": ["@steps"]}, steps="step")[0])

    def test_a_reference_outside_of_a_list_is_in_the_ledger(self):
        self.assertIn("'@steps' is no item of a list; write [\"@steps\"]",
                      self.installed({**STEP, "names": "@steps"}, steps=["step"])[0])

    def test_of_several_hooks_the_others_serve(self):
        module = sample()
        _hooks.Library({"library": "python", "versions": ">=3",
                        "hooks": [{**STEP, "names": ["@gone"]}, STEP]}).install(module)
        self.assertEqual(take()[1], "ledger hooks_installed 2 2 functions of sample")


class HookFileTest(unittest.TestCase):
    def check_each(self, check):
        for path in sorted((pathlib.Path(_hooks.__file__).parent / "hooks").glob("*.json")):
            with self.subTest(file=path.name):
                check(path.read_text(), json.loads(path.read_text()))

    def test_every_file_says_what_it_hooks(self):
        def check(_, description):
            self.assertLessEqual({"library", "versions", "hooks"}, set(description))
            self.assertLessEqual(set(description),
                                 {"library", "versions", "hooks", "distributions", "lists", "checked"})
            if description["versions"] != "any":
                _versions.is_within("1", description["versions"])
            for hook in description["hooks"]:
                self.assertLessEqual(set(hook), _hooks._FIELDS)
                self.assertNotEqual("names" in hook, "natives" in hook)
                _lists.expand(hook, description.get("lists", {}))
        self.check_each(check)

    def test_a_shared_list_is_shared(self):
        def check(text, description):
            for name in description.get("lists", {}):
                self.assertGreater(text.count(f'"@{name}"'), 1, name)
        self.check_each(check)

    def test_a_version_that_was_looked_at_is_hooked(self):
        def check(_, description):
            if not description.get("checked", "commit").startswith("commit"):
                self.assertTrue(_versions.is_within(description["checked"], description["versions"]))
        self.check_each(check)


if __name__ == "__main__":
    unittest.main()
