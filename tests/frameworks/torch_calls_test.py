# SPDX-License-Identifier: Apache-2.0
"""PyTorch with its native calls counted: it computes, compiles, scripts, traces and pickles as before.
Environment: GPUBOUND_LIBRARY, PYTHONPATH with the package and tests/annotate/python."""
import copy
import inspect
import io
import json
import os
import pathlib
import pickle
import types
import unittest

import torch
from torch import nn

import gpubound
from gpubound import _core, _hooks, _natives
from recorded import RecordedTest, take

ORIGINAL_ADD, ORIGINAL_MUL = torch.add, torch.Tensor.mul
HOOKS = json.loads((pathlib.Path(gpubound.__file__).parent / "hooks" / "torch_calls.json").read_text())
INSTALLED = _natives.install(HOOKS["hooks"][0])
for hook in HOOKS["hooks"]:
    if hook["module"] == "torch._ops":
        _hooks.install_hook(hook, torch._ops)
X = torch.linspace(-1.0, 1.0, 32).reshape(8, 4)


def calls(name):
    return [f"begin layer(5) {name}", f"end layer(5) {name}"]


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(4, 3)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.cells(value)[0]).add(1)


class CountedTest(RecordedTest):
    def test_functions_methods_and_operators_are_counted_once_each(self):
        self.assertGreater(INSTALLED, 1500)
        torch.add(X, 1)
        self.assert_recorded(*calls("VariableFunctions.add"))
        X.mul(2)
        self.assert_recorded(*calls("Tensor.mul"))
        X + 1  # pylint: disable=pointless-statement
        self.assert_recorded(*calls("Tensor.__add__"))
        X ** 2  # pylint: disable=pointless-statement
        self.assert_recorded(*calls("Tensor.__pow__"))
        torch.nn.functional.linear(X, X)
        self.assert_recorded(*calls("nn.linear"))
        torch._VF.norm(X)
        self.assert_recorded(*calls("VariableFunctions.norm"))

    def test_the_optimisers_grouped_calls_are_counted(self):
        model = network()
        optimizer = torch.optim.Adam(model.parameters(), foreach=True)
        model(X).sum().backward()
        take()
        optimizer.step()
        self.assertTrue([call for call in take() if "_foreach_" in call])

    def test_operators_of_the_dispatcher_are_counted(self):
        self.assertEqual(torch.ops.aten.mm(X, X.t()).shape, (8, 8))
        self.assertIn("begin layer(5) OpOverloadPacket.__call__", take())
        torch.ops.aten.relu.default(X)
        self.assert_recorded(*calls("OpOverload.__call__"))
        with self.assertRaises(RuntimeError):
            torch.ops.aten.mm(X, X)
        self.assert_recorded(*calls("OpOverloadPacket.__call__"))

    def test_subscripts_are_counted_and_a_tensor_is_no_sequence_for_that(self):
        value = X[torch.tensor([0, 1])]
        self.assert_recorded(*calls("VariableFunctions.tensor"), *calls("Tensor.__getitem__"))
        value[0] = 1.0
        self.assert_recorded(*calls("Tensor.__setitem__"))
        self.assertEqual(nn.Parameter(value)[0, 0].item(), 1.0)
        self.assertIn("begin layer(5) Tensor.__getitem__", take())

        class Named(torch.Tensor):
            pass
        self.assertEqual(value.as_subclass(Named)[0, 0], 1.0)
        self.assertIn("begin layer(5) Tensor.__getitem__", take())
        # Were it one, its length would be asked for, and a single number has none.
        self.assertEqual(torch.tensor([value[0, 0], value[0, 1]]).tolist(), [1.0, 1.0])
        with self.assertRaises(IndexError):
            value[9]  # pylint: disable=pointless-statement

    def test_questions_about_a_tensor_are_not(self):
        X.size(), X.dim(), X.is_contiguous(), torch.is_floating_point(X)  # pylint: disable=W0106
        self.assert_recorded()

    def test_an_error_ends_its_call(self):
        with self.assertRaises(RuntimeError):
            torch.mm(X, X)
        self.assert_recorded(*calls("VariableFunctions.mm"))


class SameTest(unittest.TestCase):
    def test_names_of_one_function_stay_one_object(self):
        self.assertIs(nn.functional.linear, torch._C._nn.linear)
        self.assertIs(nn.functional.conv1d, torch.conv1d)

    def test_a_wrapper_looks_like_its_function(self):
        self.assertIsInstance(torch.add, types.BuiltinFunctionType)
        self.assertTrue(inspect.isbuiltin(torch.add))
        self.assertEqual(torch.add, ORIGINAL_ADD)
        self.assertEqual({ORIGINAL_ADD: 1}[torch.add], 1)
        self.assertEqual(torch.add.__doc__, ORIGINAL_ADD.__doc__)
        self.assertEqual(torch.Tensor.mul.__name__, "mul")
        self.assertEqual(torch.overrides.resolve_name(torch.Tensor.mul), "torch.Tensor.mul")

    def test_functions_and_modules_are_pickled(self):
        for function in (torch.add, torch.Tensor.mul, nn.functional.linear):
            self.assertIs(pickle.loads(pickle.dumps(function)), function)
            self.assertIs(copy.deepcopy(function), function)
        model = pickle.loads(pickle.dumps(network()))
        self.assertTrue(torch.equal(model(X), copy.deepcopy(model)(X)))

    def test_a_state_dict_is_saved_and_loaded(self):
        file = io.BytesIO()
        torch.save(network().state_dict(), file)
        file.seek(0)
        network().load_state_dict(torch.load(file, weights_only=True))


class CompilerTest(unittest.TestCase):
    def test_dynamo_sees_one_graph_without_a_break(self):
        model = network()

        def function(value):
            return torch.softmax(model(value), -1).add(1).log().sum() + value.mean().clamp(0, 1)
        self.assertEqual(torch._dynamo.explain(function)(X).graph_break_count, 0)
        for backend in ("eager", "aot_eager"):
            torch._dynamo.reset()
            compiled = torch.compile(function, backend=backend, fullgraph=True)
            self.assertTrue(torch.allclose(compiled(X), function(X)))

    def test_torchscript_compiles_and_traces(self):
        model = Recurrent()
        self.assertTrue(torch.equal(torch.jit.script(model)(X), model(X)))
        traced = torch.jit.trace(network(), (X,))
        self.assertTrue(torch.equal(traced(X), network()(X)))

    def test_fx_traces_by_the_names_that_programs_use(self):
        class Sum(nn.Module):
            def forward(self, value):
                return torch.relu(value).add(torch.sigmoid(value)).sum()
        traced = torch.fx.symbolic_trace(Sum())
        self.assertIn("torch.relu(", traced.code)
        self.assertEqual(float(pickle.loads(pickle.dumps(traced))(X)), float(Sum()(X)))

    def test_a_program_is_exported(self):
        exported = torch.export.export(network(), (X,))
        self.assertTrue(torch.equal(exported.module()(X), network()(X)))

    def test_function_transforms_work(self):
        squares = torch.func.vmap(lambda row: torch.dot(row, row))(X)
        self.assertTrue(torch.allclose(squares, (X * X).sum(1)))
        gradient = torch.func.grad(lambda value: torch.sin(value).sum())(X)
        self.assertTrue(torch.allclose(gradient, torch.cos(X)))


class OverriderTest(unittest.TestCase):
    """In a process of its own, because functions are given back for good."""

    def test_a_class_with_its_own_torch_function_meets_the_functions_that_it_names(self):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if self._names_agree() else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_a_class_of_a_library_that_hands_on_whatever_it_is_given_changes_nothing(self):
        take()
        type("_EmptyInit", (torch.overrides.TorchFunctionMode,),
             {"__torch_function__": lambda self, function, types, given=(), words=None: function(*given, **words or {}),
              "__module__": "lightning_fabric.utilities.init"})
        self.assertEqual(take(), [])
        self.assertIsNot(torch.add, ORIGINAL_ADD)

    @staticmethod
    def _names_agree():
        seen = []

        class Own(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append(func)
                return super().__torch_function__(func, types, args, kwargs or {})
        if not any("has a __torch_function__ of its own" in call for call in take()):
            return False
        value = torch.ones(3).as_subclass(Own)
        torch.add(value, 1)
        value.mul(2)
        return (seen[0] is torch.add is ORIGINAL_ADD and seen[1] is torch.Tensor.mul and
                _core.wrapped(torch.Tensor.mul) is ORIGINAL_MUL)


if __name__ == "__main__":
    unittest.main()
