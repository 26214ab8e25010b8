# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers, with closures and without: what is theirs, and what they tell the loop."""
import types
import unittest

from gpubound import _core, _hooks, _loop
from recorded import take
from recorded_loop import RecordedLoop


class OptimizerStepsTest(RecordedLoop):
    def test_an_optimizer_may_step_inside_of_a_range(self):
        self.run_loop("bcb")
        with _core.layer_scope(5, "Optimizer.step"):
            self.calls["c"]()
        self.assertEqual(self.run_loop("").split().count("step"), 1)

    def hook_optimizer(self):
        """A class whose step calls its closure twice, and one derived from it, with their hook."""
        module = types.ModuleType("sample")

        class Lbfgs:
            def step(self, closure=None):
                return [closure() for _ in range(2)] if closure else None

        class Better(Lbfgs):
            def step(self, closure=None):
                return super().step(lambda: closure() + 1)
        module.Lbfgs = Lbfgs
        _hooks.install_hook({"module": "sample", "class": "Lbfgs", "names": ["step"], "subclasses": True,
                             "operation": "optimizer", "loop": "optimized"}, module)
        return Lbfgs(), Better()

    def test_what_a_closure_does_is_no_part_of_the_step(self):
        plain, better = self.hook_optimizer()

        def closure():
            with _core.operation("loss"):
                return 1
        for optimizer, result in ((plain, [1, 1]), (better, [2, 2])):
            with _core.operation("own"):
                take()
                self.assertEqual(optimizer.step(closure=closure), result)
                self.assert_recorded("begin operation optimizer",
                                     *2 * ("end operation optimizer", "begin operation loss",
                                           "end operation loss", "begin operation optimizer"),
                                     "end operation optimizer")

    def test_a_learner_whose_optimizer_calls_backward_turns_with_it(self):
        optimizer, _ = self.hook_optimizer()
        take()
        for _ in range(3):
            optimizer.step(_loop.enter_update)
        calls = self.run_loop("")
        self.assertEqual(calls.split().count("step"), 2)
        self.assertIn("begin operation optimizer end operation optimizer update( begin operation optimizer",
                      calls)

    def test_a_closure_is_what_it_was(self):
        class Sgd:
            def step(self, closure=None):
                return isinstance(closure, Closure), closure.batch, closure()

        class Closure:
            batch = 3

            def __call__(self):
                return self.batch
        module = types.ModuleType("sample")
        module.Sgd = Sgd
        _hooks.install_hook({"module": "sample", "class": "Sgd", "names": ["step"], "subclasses": True,
                             "operation": "optimizer", "loop": "optimized"}, module)
        self.assertEqual(Sgd().step(Closure()), (True, 3, 3))

    def test_a_closure_that_fails_leaves_the_step(self):
        optimizer, _ = self.hook_optimizer()
        take()
        with self.assertRaises(ZeroDivisionError):
            optimizer.step(lambda: 1 / 0)
        self.assertEqual(take()[-1], "end operation optimizer")
        self.assertEqual(_core.depth(), 0)

    def test_a_step_that_calls_the_step_of_its_base_counts_once(self):
        self.assertEqual(self.run_loop("bcc" * 3), "update( step step")

    def test_a_program_that_sets_its_gradients_itself_learns_where_its_optimizer_steps(self):
        optimizer, _ = self.hook_optimizer()
        for _ in range(2):
            self.run_loop("ee")
            optimizer.step()
            calls = take()
            self.assertLess(calls.index("begin operation stage:update"), calls.index("begin operation optimizer"))
            self.assertEqual(self.run_loop("e"), ") step rollout(")

    def test_a_step_is_all_that_the_library_puts_around_it(self):
        module = types.ModuleType("sample")

        class Sgd:
            def step(self):
                with _core.operation("inner"):
                    return 7

            @staticmethod
            def patch(function):
                def step(*arguments):
                    with _core.layer_scope(5, "around"):
                        return function(*arguments)
                return step
        module.Sgd = Sgd
        _hooks.install_hook({"module": "sample", "class": "Sgd", "names": ["patch"],
                             "returns": {"operation": "optimizer", "loop": "optimized"}}, module)
        optimizer = Sgd()
        Sgd.step = optimizer.patch(Sgd.step)
        take()
        self.assertEqual(optimizer.step(), 7)
        self.assert_recorded("begin operation optimizer", "begin layer(5) around", "begin operation inner",
                             "end operation inner", "end layer(5) around", "end operation optimizer")

    def test_an_optimizer_hook_tells_the_loop(self):
        module = types.ModuleType("sample")

        class Sgd:
            def step(self, closure=None):
                return closure

        class Better(Sgd):
            def step(self, closure=None):
                return super().step(closure)
        module.Sgd = Sgd
        _hooks.install_hook({"module": "sample", "class": "Sgd", "names": ["step"], "subclasses": True,
                             "operation": "optimizer", "loop": "optimized"}, module)
        self.run_loop("bc")
        self.critic = better = Better()
        self.run_loop("b")
        take()
        self.assertIsNone(better.step())


if __name__ == "__main__":
    unittest.main()
