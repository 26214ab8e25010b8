# SPDX-License-Identifier: Apache-2.0
"""What hooks record of calls whose operation is named when the trace is read."""
import types
import unittest
import unittest.mock

from gpubound import _core, _facts, _hooks
from recorded import RecordedTest, take

HOOK = {"module": "sample_nn", "class": "Module", "names": ["__call__"], "fact": "module",
        "gradients": "sample_nn.is_grad_enabled"}


class ModuleCallTest(RecordedTest):
    def setUp(self):
        module = types.ModuleType("sample_nn")

        class Module:
            def __call__(self, inner=None):
                return 5 if inner is None else inner()

        class Policy(Module):
            pass
        module.Module, module.grad = Module, True
        module.is_grad_enabled = lambda: module.grad
        patch = unittest.mock.patch.dict("sys.modules", sample_nn=module)
        patch.start()
        self.addCleanup(patch.stop)
        _hooks.install_hook(HOOK, module)
        self.module, self.policy = module, Policy()
        super().setUp()

    @staticmethod
    def call(domain, name):
        return [f"begin annotation {domain}:{name}", f"end annotation {domain}:{name}"]

    def test_a_call_says_of_what_class_and_whether_gradients_are_on(self):
        self.assertEqual(self.policy(), 5)
        self.module.grad = False
        self.policy()
        self.module.Module()()
        self.assert_recorded(*self.call(_facts.MODULE_WITH_GRADIENTS, "Policy"),
                             *self.call(_facts.MODULE, "Policy"), *self.call(_facts.MODULE, "Module"))

    def test_only_the_outermost_call_is_a_fact(self):
        self.policy(self.module.Module())
        self.assert_recorded(*self.call(_facts.MODULE_WITH_GRADIENTS, "Policy"))

    def test_within_a_hooked_operation_it_is_none_but_within_a_stage_it_is(self):
        for operation, calls in (("optimizer", []), ("update", self.call(_facts.MODULE_WITH_GRADIENTS, "Policy"))):
            with self.subTest(operation):
                label = _core.operation(operation).label
                around = _core.hook(self.policy, label, False, 0, False, None, operation == "update")
                around()
                self.assert_recorded(f"begin operation {operation}", *calls, f"end operation {operation}")

    def test_a_call_that_raises_ends_too(self):
        with self.assertRaises(ZeroDivisionError):
            self.policy(lambda: 1 / 0)
        self.assertEqual(_core.depth(), 0)
        take()

    def test_what_cannot_tell_of_gradients_is_called_as_ever(self):
        self.module.is_grad_enabled = None
        self.assertEqual(self.policy(), 5)
        take()
        labels = ({}, lambda: 1 / 0, lambda kind: (1, 2))
        broken = _core.watch(lambda value: value, 0, False, 23, labels)
        self.assertEqual(broken(3), 3)
        self.assert_recorded()

    def test_many_classes_share_a_name(self):
        with unittest.mock.patch.object(_facts, "_MOST_CLASSES", 1):
            for name in "AB":
                type(name, (self.module.Module,), {})()()
        self.assert_recorded(*self.call(_facts.MODULE_WITH_GRADIENTS, "A"),
                             *self.call(_facts.MODULE_WITH_GRADIENTS, "Module"))


if __name__ == "__main__":
    unittest.main()
