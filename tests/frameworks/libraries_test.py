# SPDX-License-Identifier: Apache-2.0
"""Each library that has a hook file, at its pinned version, in a short program of its own that knows
nothing of gpubound: what the collector was told. Where a framework cannot be installed on a machine
without GPUs, its timer's interface is reproduced (stand_ins/) and said so.

Environment: GPUBOUND_LIBRARY, GPUBOUND_TEST_PACKAGE (the folder of gpubound) and GPUBOUND_TEST_RECORDED
(that of recorded.py)."""
import os
import pathlib
import subprocess
import sys
import unittest

PACKAGE = pathlib.Path(os.environ["GPUBOUND_TEST_PACKAGE"]) / "gpubound"
STAND_INS = pathlib.Path(__file__).parent / "stand_ins"
RECORDED = os.environ["GPUBOUND_TEST_RECORDED"]


class LibraryTest(unittest.TestCase):
    def told(self, program, *path):
        """What the collector is told by `program`, with the folders of `path` to import from."""
        text = (f"{program}\nimport atexit, sys\nsys.path.append({RECORDED!r})\nimport recorded\n"
                "from gpubound import _loop\n_loop._finish(); _loop.end_iterations()\n"
                "print('TOLD', *recorded.take(), sep='\\n')\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
            map(str, [PACKAGE / "startup", *path])), "OMP_NUM_THREADS": "1", "MUJOCO_GL": "disabled",
            "JAX_PLATFORMS": "cpu", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", text], env=environment,
                              capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        calls = done.stdout.partition("TOLD\n")[2].splitlines()
        self.assertEqual([call for call in calls if "hooks_failed" in call], [])
        return calls

    def count(self, calls, what):
        return sum(call == f"begin {what}" for call in calls)

    def order(self, calls):
        """Names of the operations in the order of their begin, once each."""
        return list(dict.fromkeys(call[len("begin operation "):] for call in calls
                                  if call.startswith("begin operation ")))

    def steps(self, calls):
        return sum(call.startswith("step ") for call in calls)


class SimulatorTest(LibraryTest):
    def test_checking_an_environment_is_simulation_and_begins_no_rollout(self):
        for checker in ("gymnasium.utils.env_checker", "stable_baselines3.common.env_checker"):
            calls = self.told("import gymnasium, torch\n"
                              f"from {checker} import check_env\n"
                              "environment = gymnasium.make('CartPole-v1').unwrapped\n"
                              "check_env(environment, skip_render_check=True)\n")
            self.assertEqual(self.order(calls), ["simulation"], checker)
            self.assertEqual(self.count(calls, "operation simulation"), 1, checker)

    def test_steps_in_two_calls_are_simulation_and_begin_the_rollout(self):
        for vector in ("gymnasium.vector.AsyncVectorEnv",
                       "stable_baselines3.common.vec_env.DummyVecEnv"):
            module = vector.rpartition(".")[0]
            calls = self.told(f"import gymnasium, numpy, torch, {module}\n"
                              f"environments = {vector}([lambda: gymnasium.make('CartPole-v1')])\n"
                              "environments.reset()\n"
                              "from gpubound import _core\n_core.phase('run')\n"
                              "for _ in range(5):\n"
                              "    environments.step_async(numpy.zeros(1, numpy.int64))\n"
                              "    environments.step_wait()\n"
                              "environments.close()\n")
            calls = calls[calls.index("phase run"):]
            self.assertEqual(self.count(calls, "operation simulation"), 10, vector)

    def test_a_turn_of_steps_in_two_calls_ends_with_the_next_rollout(self):
        calls = self.told("import gymnasium, numpy, torch\n"
                          "environments = gymnasium.vector.AsyncVectorEnv(\n"
                          "    [lambda: gymnasium.make('CartPole-v1')])\nenvironments.reset()\n"
                          "weight = torch.ones(4, requires_grad=True)\n"
                          "for _ in range(3):\n"
                          "    environments.step_async(numpy.zeros(1, numpy.int64))\n"
                          "    environments.step_wait()\n"
                          "    (weight * weight).sum().backward()\nenvironments.close()\n")
        self.assertEqual(self.count(calls, "operation update"), 3)
        self.assertEqual(self.steps(calls), 3)

    def test_pettingzoo_is_simulation(self):
        calls = self.told("from pettingzoo import ParallelEnv\nfrom pettingzoo.utils import BaseParallelWrapper\n"
                          "class Own(ParallelEnv):\n"
                          "    possible_agents = agents = []\n"
                          "    def step(self, actions): return {}, {}, {}, {}, {}\n"
                          "environment = BaseParallelWrapper(Own())\n"
                          "for _ in range(5): environment.step({})\n")
        self.assertEqual(self.count(calls, "operation simulation"), 5)
        self.assertEqual(self.order(calls), ["rollout", "simulation"])

    def test_pybullet_steps_are_the_simulator(self):
        calls = self.told("import pybullet\npybullet.connect(pybullet.DIRECT)\n"
                          "for _ in range(5): pybullet.stepSimulation()\n")
        self.assertEqual(self.count(calls, "layer(4) pybullet.stepSimulation"), 5)

    def test_box2d_steps_are_the_simulator(self):
        calls = self.told("import Box2D\nworld = Box2D.b2World()\n"
                          "for _ in range(5): world.Step(0.02, 6, 2)\n")
        self.assertEqual(self.count(calls, "layer(4) b2World.Step"), 5)

    def test_envpool_is_simulation_by_its_native_pool(self):
        calls = self.told("import envpool, numpy\n"
                          "pool = envpool.make_gymnasium('CartPole-v1', num_envs=2)\npool.reset()\n"
                          "for _ in range(5): pool.step(numpy.zeros(2, numpy.int32))\n")
        self.assertEqual(self.count(calls, "operation simulation"), 6)
        self.assertEqual(self.count(calls, "layer(4) EnvPoolMixin.recv"), 6)
        self.assertEqual(self.count(calls, "layer(4) EnvPoolMixin.send"), 5)

    def test_dm_control_is_simulation_by_mujoco(self):
        calls = self.told("from dm_control import suite\nimport numpy\n"
                          "task = suite.load('cartpole', 'balance', {'random': 1})\ntask.reset()\n"
                          "for _ in range(5): task.step(numpy.zeros(1))\n")
        self.assertEqual(self.count(calls, "operation simulation"), 6)
        self.assertGreaterEqual(self.count(calls, "layer(4) mujoco.mj_step"), 5)


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

    def test_every_way_to_call_autograd_is_backpropagation_and_an_update(self):
        for learn in ("loss.backward(); optimizer.step()",
                      "torch.autograd.backward([loss]); optimizer.step()",
                      "torch.autograd.grad(loss, weight)",
                      "torch.optim.LBFGS([weight], max_iter=1).step(lambda: (loss.backward(), loss)[1])"):
            with self.subTest(learn=learn):
                calls = self.told(self.LOOP.format(learn=learn))
                self.assertEqual(self.count(calls, "operation backpropagation"), 3)
                self.assertEqual(self.count(calls, "operation update"), 3)
                self.assertEqual(self.steps(calls), 3)


class DillTest(LibraryTest):
    def test_what_dill_carries_along_is_loaded_where_nothing_is_hooked(self):
        self.told("import dill, gymnasium, os, subprocess, sys\n"
                  "class Own(gymnasium.Env):\n"
                  "    def step(self, action): return action + 1\n"
                  "data = dill.dumps(Own()).hex()\n"
                  "own = f'import dill; print(dill.loads(bytes.fromhex({data!r})).step(1))'\n"
                  "plain = {key: value for key, value in os.environ.items()\n"
                  "         if not key.startswith(('PYTHONPATH', 'GPUBOUND', 'LD_PRELOAD'))}\n"
                  "done = subprocess.run([sys.executable, '-c', own], env=plain, text=True,\n"
                  "                      capture_output=True)\n"
                  "assert done.stdout == '2\\n', done.stderr\n"
                  "assert dill.loads(bytes.fromhex(data)).step(1) == 2\n"
                  "assert dill.loads(dill.dumps(gymnasium.Env.step)) is gymnasium.Env.step\n")


class TensorflowTest(LibraryTest):
    def test_what_is_executed_is_the_backend(self):
        calls = self.told("import tensorflow as tf\nx = tf.ones((4, 4))\n"
                          "for _ in range(5): x = tf.matmul(x, x) + 1\n"
                          "@tf.function\ndef twice(x): return x + x\n"
                          "for _ in range(3): twice(x)\nx.numpy()\n")
        self.assertGreaterEqual(
            self.count(calls, "layer(5) tensorflow.python.pywrap_tfe.TFE_Py_FastPathExecute"), 10)
        self.assertEqual(self.count(calls, "layer(5) tensorflow.python.pywrap_tfe.TFE_Py_Execute"), 3)
        self.assertEqual(self.count(calls, "layer(5) _EagerTensorBase._numpy"), 1)

    def test_a_tape_is_backpropagation_where_it_is_executed_and_not_where_it_is_traced(self):
        program = ("import tensorflow as tf\nx = tf.Variable(tf.ones((4, 4)))\n"
                   "def learn():\n"
                   "    with tf.GradientTape() as tape: loss = tf.reduce_sum(x * x)\n"
                   "    return tape.gradient(loss, x)\n")
        calls = self.told(program + "for _ in range(3): learn()\n")
        self.assertEqual(self.count(calls, "operation backpropagation"), 3)
        calls = self.told(program + "learn = tf.function(learn)\nfor _ in range(3): learn()\n")
        self.assertEqual(self.count(calls, "operation backpropagation"), 0)


class TorchScriptTest(LibraryTest):
    def test_what_torchscript_compiled_is_the_backend(self):
        calls = self.told("import torch\nnetwork, x = torch.nn.Linear(4, 2), torch.ones(1, 4)\n"
                          "scripted, traced = torch.jit.script(network), torch.jit.trace(network, x)\n"
                          "double = torch.jit.CompilationUnit('def double(x):\\n  return x * 2\\n').double\n"
                          "from gpubound import _core\n_core.phase('run')\n"
                          "for _ in range(5): assert scripted(x).equal(traced(x))\n"
                          "for _ in range(3): assert double(x).equal(x + x)\n")
        calls = calls[calls.index("phase run"):]
        self.assertEqual(self.count(calls, "layer(5) ScriptMethod.__call__"), 10)
        self.assertEqual(self.count(calls, "layer(5) ScriptFunction.__call__"), 3)


class JaxTest(LibraryTest):
    LOOP = ("import jax\n@jax.jit\ndef train_step(x): return (x * x).sum(), x + 1\n"
            "x = jax.numpy.ones(4)\n")

    def test_a_jitted_training_step_is_an_operation_and_a_turn_of_the_loop(self):
        calls = self.told(self.LOOP + "for _ in range(3): loss, x = train_step(x)\n")
        self.assertEqual(self.count(calls, "operation train_step"), 3)
        self.assertEqual(self.count(calls, "layer(5) train_step"), 3)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(self.order(calls), ["train_step"])

    def test_waiting_for_its_result_belongs_to_it(self):
        calls = self.told(self.LOOP + "loss, x = train_step(x)\nx.block_until_ready()\n"
                          "float(loss)\njax.block_until_ready([x, loss])\n")
        self.assertEqual(self.count(calls, "operation train_step"), 4)
        for name in ("ArrayImpl.block_until_ready", "jax._src.api.block_until_ready",
                     "ArrayImpl._single_device_array_to_np_array_did_copy"):
            self.assertEqual(self.count(calls, f"layer(5) {name}"), 1, name)

    def test_a_thread_waits_for_what_it_called_itself(self):
        calls = self.told("import jax, threading\n@jax.jit\ndef act(x): return x + 1\n" + self.LOOP +
                          "loss, x = train_step(x)\n"
                          "actor = threading.Thread(target=lambda: act(1.0))\nactor.start()\nactor.join()\n"
                          "loss.block_until_ready()\n")
        self.assertEqual(self.count(calls, "operation train_step"), 2)
        self.assertEqual(self.count(calls, "operation act"), 1)

    def test_functions_that_call_one_another_are_one_operation(self):
        calls = self.told("import jax\n@jax.jit\ndef inner(x): return x + 1\n"
                          "@jax.jit\ndef outer(x): return inner(x) * 2\nouter(1.0)\n")
        self.assertEqual(self.order(calls), ["outer"])

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


class TrainerTest(LibraryTest):
    def test_torchrl_collects_rollouts_of_simulation(self):
        calls = self.told(
            "import torch\nfrom torchrl.envs import GymEnv\n"
            "from torchrl.collectors import SyncDataCollector\n"
            "collector = SyncDataCollector(GymEnv('CartPole-v1'), None, frames_per_batch=8,\n"
            "                              total_frames=24)\n"
            "for batch in collector: pass\ncollector.shutdown()\n")
        self.assertEqual(self.count(calls, "operation rollout"), 3)
        self.assertGreaterEqual(self.count(calls, "operation simulation"), 24)
        self.assertEqual(self.steps(calls), 3)

    def test_tianshou_collects_and_updates(self):
        calls = self.told(TIANSHOU)
        self.assertEqual(self.count(calls, "operation update"), 2)
        self.assertEqual(self.steps(calls), 2)
        self.assertEqual(set(self.order(calls)) & {"rollout", "simulation", "inference", "update",
                                                   "backpropagation", "optimizer"},
                         {"rollout", "simulation", "inference", "update", "backpropagation",
                          "optimizer"})

    def test_rllib_samples_and_updates(self):
        calls = self.told(RLLIB)
        self.assertEqual(self.steps(calls), 2)
        self.assertEqual(self.count(calls, "operation update"), 2)
        self.assertGreaterEqual(self.count(calls, "operation rollout"), 2)
        self.assertGreaterEqual(self.count(calls, "operation inference"), 64)
        self.assertGreaterEqual(self.count(calls, "layer(2) ray._private.worker.get"), 1)


class TimerTest(LibraryTest):
    def test_trl_timers_are_operations(self):
        calls = self.told("from trl.extras.profiling import ProfilingContext\n"
                          "for name in ('Trainer.generate', 'Trainer.reward'):\n"
                          "  with ProfilingContext(name, report_to=[]): pass\n")
        self.assertEqual(self.order(calls), ["Trainer.generate", "Trainer.reward"])

    def test_a_transformers_trainer_step_is_an_iteration(self):
        calls = self.told(
            "import types\nfrom transformers.trainer_callback import CallbackHandler\n"
            "handler = CallbackHandler([], None, None, None, None)\n"
            "handler.on_step_end(None, None, types.SimpleNamespace())\n")
        self.assertEqual(self.steps(calls), 1)

    def test_verl_timers_are_operations_and_its_step_an_iteration(self):
        calls = self.told("from verl.utils.profiler.performance import marked_timer\nraw = {}\n"
                          "for _ in range(2):\n  with marked_timer('step', raw):\n"
                          "    with marked_timer('gen', raw, color='red'): pass\n"
                          "assert set(raw) == {'step', 'gen'}\n", STAND_INS)
        self.assertEqual(self.order(calls), ["step", "gen"])
        self.assertEqual(self.steps(calls), 2)

    def test_nemo_rl_timers_are_operations_and_its_step_an_iteration(self):
        calls = self.told("from nemo_rl.utils.timer import Timer, ThreadSafeTimer\n"
                          "for timer in (Timer(), ThreadSafeTimer()):\n"
                          "  with timer.time('total_step_time'):\n"
                          "    with timer.time('generation'): pass\n"
                          "  assert set(timer.labels) == {'total_step_time', 'generation'}\n",
                          STAND_INS)
        self.assertEqual(self.order(calls), ["total_step_time", "generation"])
        self.assertEqual(self.steps(calls), 2)

    def test_openrlhf_phases_are_operations_and_its_step_an_iteration(self):
        calls = self.told("from openrlhf.trainer.ppo_trainer import PPOTrainer\n"
                          "PPOTrainer().fit(2)\n", STAND_INS)
        self.assertEqual(self.order(calls),
                         ["generation", "make_experience", "ppo_train", "broadcast"])
        self.assertEqual(self.steps(calls), 2)


TIANSHOU = """
import gymnasium, torch
from tianshou.algorithm import PPO
from tianshou.algorithm.algorithm_base import Algorithm
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
environments = DummyVectorEnv([lambda: gymnasium.make('CartPole-v1')] * 2)
space = environments.action_space[0]
net = Net(state_shape=(4,), hidden_sizes=[8])
actor = DiscreteActor(preprocess_net=net, action_shape=2)
policy = ProbabilisticActorPolicy(actor=actor, dist_fn=torch.distributions.Categorical,
                                  action_space=space, action_scaling=False)
algorithm = PPO(policy=policy, critic=DiscreteCritic(preprocess_net=net),
                optim=AdamOptimizerFactory())
algorithm.run_training(OnPolicyTrainerParams(
    training_collector=Collector(algorithm, environments, VectorReplayBuffer(64, 2)),
    max_epochs=1, epoch_num_steps=40, collection_step_num_env_steps=20, batch_size=10,
    update_step_num_repetitions=1, test_in_training=False))
"""

RLLIB = """
import ray
from ray.rllib.algorithms.ppo import PPOConfig
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
algorithm = (PPOConfig().environment('CartPole-v1').env_runners(num_env_runners=0)
             .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)
             .build_algo())
for _ in range(2): algorithm.train()
ray.get(ray.put(1))
ray.shutdown()
"""


if __name__ == "__main__":
    unittest.main()
