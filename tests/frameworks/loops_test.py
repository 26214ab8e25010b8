# SPDX-License-Identifier: Apache-2.0
"""Loops of PyTorch, JAX and TensorFlow that no framework structures, in short programs (told.py)."""
import unittest

from told import RECORDED, LibraryTest


def jitted(calls):
    """Names of the jitted functions that were called, or waited for, in order."""
    domains = ("begin annotation jitted training step:", "begin annotation jitted:")
    return [call.partition(":")[2] for call in calls if call.startswith(domains)]


class TorchTest(LibraryTest):
    LOOP = ("import gymnasium, torch\n"
            "env = gymnasium.make('CartPole-v1')\nenv.reset(seed=1)\n"
            "weight = torch.ones(4, requires_grad=True)\n"
            "optimizer = torch.optim.SGD([weight])\n"
            "for _ in range(3):\n"
            "    env.reset(seed=1)\n"
            "    env.step(0)\n"
            "    loss = (weight * weight).sum()\n    {learn}\n")

    def test_behind_the_end_of_the_recording_its_functions_are_its_own_again(self):
        calls = self.told("import sys, torch\nimport gpubound\nfrom gpubound import _core\n"
                          f"sys.path.append({RECORDED!r})\nimport recorded\n"
                          "original = _core.wrapped(torch.add)\nassert original is not None\n"
                          "assert 'mul' in vars(torch.Tensor)\n"
                          "recorded.set_ended(True)\ngpubound.step()\nrecorded.take()\n"
                          "assert torch.add is original and 'mul' not in vars(torch.Tensor)\n"
                          "assert torch.equal(torch.add(torch.ones(2), 1).mul(2), torch.full((2,), 4.0))\n")
        self.assertEqual(calls, [])

    def test_what_torch_compile_has_compiled_stays_compiled(self):
        self.told("import sys, torch\nimport gpubound\nfrom gpubound import _core\n"
                  f"sys.path.append({RECORDED!r})\nimport recorded\n"
                  "graphs = []\n"
                  "def backend(graph, inputs):\n    graphs.append(graph)\n    return graph.forward\n"
                  "@torch.compile(backend=backend)\n"
                  "def function(value):\n    return torch.nn.functional.linear(value, value).relu()\n"
                  "function(torch.eye(3))\n"
                  "recorded.set_ended(True)\ngpubound.step()\nrecorded.take()\n"
                  "assert torch.equal(function(torch.eye(3)), torch.eye(3))\n"
                  "assert len(graphs) == 1, graphs\n"
                  "assert _core.wrapped(torch.add) is not None\n")

    def test_torch_compile_leaves_the_profiler_alone(self):
        self.told("import torch\nfrom torch._dynamo.utils import counters\n"
                  "network, x = torch.nn.Linear(4, 1), torch.ones(2, 4)\n"
                  "@torch.compile(backend='eager')\n"
                  "def learn(also):\n"
                  "    (x * 2).sum().add(torch.ones(1, requires_grad=True)).sum().backward()\n"
                  "    if also: return network(x)\n"  # not compiled, but watched: nothing was computed the first time
                  "learn(False)\nlearn(True)\n"
                  "reasons = ' '.join(counters['graph_break'])\n"
                  "assert 'backward' in reasons and 'gpubound' not in reasons, reasons\n"
                  "assert '_engine_run_backward' not in reasons, reasons\n")

    def test_every_way_to_call_autograd_is_backpropagation_and_an_update(self):
        for learn in ("loss.backward(); optimizer.step()",
                      "torch.autograd.backward([loss]); optimizer.step()",
                      "torch.autograd.grad(loss, weight)",
                      "torch.optim.LBFGS([weight], max_iter=1).step(lambda: (loss.backward(), loss)[1])"):
            with self.subTest(learn=learn):
                calls = self.told(self.LOOP.format(learn=learn))
                self.assertEqual(self.count(calls, "operation backpropagation"), 3)
                self.assertEqual(self.count(calls, "operation stage:update"), 3)
                self.assertEqual(self.steps(calls), 3)

    def test_gradients_of_an_evolution_strategy_are_an_update_where_the_optimizer_steps(self):
        calls = self.told(self.LOOP.format(learn="weight.grad = torch.ones(4); optimizer.step()"))
        self.assertEqual(self.count(calls, "operation stage:update"), 3)
        self.assertEqual(self.steps(calls), 3)
        self.assertLess(calls.index("begin operation stage:update"), calls.index("begin operation optimizer"))
        range_of_torch = [call for call in calls if "Optimizer.step#SGD.step" in call]
        self.assertEqual(range_of_torch[::2], [f"begin {call[4:]}" for call in range_of_torch[1::2]])

    def test_gradients_that_accelerate_accumulates_are_one_turn(self):
        calls = self.told("import torch\nfrom accelerate import Accelerator\n"
                          "accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)\n"
                          "network = torch.nn.Linear(4, 1)\n"
                          "network, optimizer = accelerator.prepare(network, torch.optim.SGD(network.parameters()))\n"
                          "for _ in range(12):\n"
                          "    with accelerator.accumulate(network):\n"
                          "        accelerator.backward(network(torch.ones(1, 4)).sum())\n"
                          "        optimizer.step()\n        optimizer.zero_grad()\n")
        self.assertEqual(self.steps(calls), 2)  # of 3, the first of which shows that it learns


class TensorflowTest(LibraryTest):
    LOOP = ("import gymnasium, tensorflow as tf\n"
            "env = gymnasium.make('CartPole-v1')\nobservation, _ = env.reset(seed=1)\n"
            "network = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nnetwork.build((None, 4))\n"
            "optimizer = tf.keras.optimizers.SGD()\noptimizer.build(network.trainable_variables)\n"
            "def act(x): return network(x)\n"
            "def {name}(x):\n"
            "    target = network(x)\n"
            "    with tf.GradientTape() as tape: loss = tf.reduce_sum((network(x) - target - 1)**2)\n"
            "    gradients = tape.gradient(loss, network.trainable_variables)\n"
            "    optimizer.apply_gradients(zip(gradients, network.trainable_variables))\n{graphs}"
            "for _ in range(3):\n    env.reset(seed=1)\n    act(observation[None])\n    env.step(0)\n"
            "    {name}(observation[None])\n")

    def loop(self, name, graphs=""):
        return self.told(self.LOOP.format(name=name, graphs=graphs))

    def test_calls_of_keras_networks_are_facts_and_its_optimizer_an_operation(self):
        calls = self.loop("improve")
        self.assertEqual(self.count(calls, "annotation module:Sequential"), 6)
        self.assertEqual(self.count(calls, "annotation module with gradients:Sequential"), 3)
        self.assertEqual(self.count(calls, "operation optimizer"), 3)
        self.assertEqual(self.count(calls, "operation stage:update"), 3)
        self.assertEqual(self.steps(calls), 3)

    def test_a_graph_function_is_an_operation_and_a_training_step_an_update(self):
        calls = self.loop("train_step", "act, train_step = tf.function(act), tf.function(train_step)\n")
        self.assertEqual(self.count(calls, "annotation jitted:act"), 3)
        self.assertEqual(self.count(calls, "annotation jitted training step:train_step"), 3)
        self.assertEqual(self.count(calls, "operation stage:update"), 3)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(self.count(calls, "operation optimizer"), 0)  # its call is traced, once

    def test_graph_functions_that_call_one_another_are_one_operation(self):
        calls = self.told("import tensorflow as tf\n@tf.function\ndef inner(x): return x + 1\n"
                          "@tf.function\ndef outer(x): return inner(x) * 2\nassert outer(tf.constant(1.0)) == 4\n"
                          "class Net(tf.Module):\n"
                          "  @tf.function\n  def one(self): return tf.constant(1.0)\n"
                          "for _ in range(2): assert Net().one() == 1\n")
        self.assertEqual(jitted(calls), ["outer", "one", "one"])


class JaxTest(LibraryTest):
    LOOP = ("import jax\n@jax.jit\ndef train_step(x): return (x * x).sum(), x + 1\n"
            "x = jax.numpy.ones(4)\n")

    def test_a_jitted_training_step_is_an_operation_and_a_turn_of_the_loop(self):
        calls = self.told(self.LOOP + "for _ in range(3): loss, x = train_step(x)\n")
        self.assertEqual(jitted(calls).count("train_step"), 3)
        self.assertEqual(self.count(calls, "layer(5) train_step"), 3)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(set(jitted(calls)), {"train_step"})

    def test_waiting_for_its_result_belongs_to_it(self):
        calls = self.told(self.LOOP + "loss, x = train_step(x)\nx.block_until_ready()\n"
                          "float(loss)\njax.block_until_ready([x, loss])\n")
        self.assertEqual(jitted(calls).count("train_step"), 4)
        for name in ("ArrayImpl.block_until_ready", "jax._src.api.block_until_ready",
                     "ArrayImpl._value"):
            self.assertEqual(self.count(calls, f"layer(5) {name}"), 1, name)

    def test_a_function_that_was_compiled_ahead_of_time_keeps_its_name(self):
        calls = self.told(self.LOOP + "compiled = train_step.lower(x).compile()\n"
                          "for _ in range(3): loss, x = compiled(x)\nx.block_until_ready()\n"
                          "assert jax.jit(lambda x: x + 1).lower(1.0).compile()(1.0) == 2\n"
                          "import gc, weakref\ngc.disable()\n"
                          "alive = weakref.ref(compiled)\n"
                          "del compiled\nassert alive() is None\n")
        self.assertEqual(jitted(calls).count("train_step"), 4)
        self.assertEqual(self.count(calls, "layer(5) train_step"), 3)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(set(jitted(calls)), {"train_step", "jit"})

    def test_a_function_on_several_devices_is_an_operation(self):
        calls = self.told("import jax\n@jax.pmap\ndef train_step(x): return x + 1\n"
                          "x = jax.numpy.ones((1, 4))\nfor _ in range(3): x = train_step(x)\n"
                          "assert train_step.__name__ == 'train_step'\n"
                          "assert train_step.lower(x).compile()(x).sum() == 20\n")
        self.assertGreaterEqual(jitted(calls).count("train_step"), 3)
        self.assertEqual(self.steps(calls), 3)

    def test_a_thread_waits_for_what_it_called_itself(self):
        calls = self.told("import jax, threading\n@jax.jit\ndef act(x): return x + 1\n" + self.LOOP +
                          "loss, x = train_step(x)\n"
                          "actor = threading.Thread(target=lambda: act(1.0))\nactor.start()\nactor.join()\n"
                          "loss.block_until_ready()\n")
        self.assertEqual(jitted(calls).count("train_step"), 2)
        self.assertEqual(jitted(calls).count("act"), 1)

    def test_functions_that_call_one_another_are_one_operation(self):
        calls = self.told("import jax\n@jax.jit\ndef inner(x): return x + 1\n"
                          "@jax.jit\ndef outer(x): return inner(x) * 2\nouter(1.0)\n")
        self.assertEqual(jitted(calls), ["outer"])

    def test_a_jitted_function_is_what_it_was(self):
        self.told(
            "import jax, inspect, pickle\n@jax.jit\ndef double(x):\n  'Doubles.'\n  return 2 * x\n"
            "class Net:\n  @jax.jit\n  def one(self): return 1.0\n"
            "jax.tree_util.register_static(Net)\n"
            "assert double.__name__ == 'double' and double.__doc__ == 'Doubles.'\n"
            "assert str(inspect.signature(double)) == '(x)'\n"
            "assert double.lower(1.0).compile()(1.0) == 2 and double.trace(1.0).jaxpr\n"
            "assert jax.grad(double)(1.0) == 2 and jax.vmap(double)(jax.numpy.ones(2)).sum() == 4\n"
            "assert jax.jit(double)(2.0) == 4 and Net().one() == 1\n"
            "assert double(3.0) == 6 and double._cache_size() == 1\ndouble.clear_cache()\n"
            "assert isinstance(double, jax.stages.Wrapped)\n"
            "assert type(double.__wrapped__) is type(lambda: 0)\n"
            "power = jax.jit(lambda x, n: x ** n, static_argnums=1)\n"
            "assert jax.eval_shape(power, 1.0, 2).shape == ()\n")

    def test_chex_knows_a_jitted_function(self):
        self.told("import chex, jax\ntry: chex.assert_max_traces(jax.jit(lambda x: x), n=1)\n"
                  "except ValueError: pass\nelse: raise AssertionError\n")

    def test_the_scopes_that_a_program_names_while_it_is_traced_become_known(self):
        self.told(
            "import jax\nfrom gpubound import _core, _jitted\nnames, label = [], _core.operation_label\n"
            "_jitted._core.operation_label = lambda *key: (names.append(key), label(*key))[1]\n"
            "@jax.jit\ndef step(x):\n"
            "  with jax.named_scope('inference'): x = x + 1\n"
            "  @jax.named_scope('learning/update')\n  def update(y): return y * 2\n"
            "  return update(x)\n"
            "assert step(1.0) == 4\n"
            "assert names == [('jax', 'inference'), ('jax', 'learning'), ('jax', 'update')], names\n"
            "text = step.lower(1.0).compile().as_text()\n"
            "assert '/inference/' in text and '/learning/update/' in text, text\n")


if __name__ == "__main__":
    unittest.main()
