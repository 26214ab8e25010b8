# SPDX-License-Identifier: Apache-2.0
"""Each library that has a hook file and can be installed, at its pinned version, in a short program (told.py);
stand_ins_test.py has the others."""
import pathlib
import unittest

from told import LibraryTest


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
        self.assertEqual(self.count(calls, "operation stage:update"), 3)
        self.assertEqual(self.steps(calls), 3)

    def test_workers_of_vector_environments_have_their_role(self):
        for module, worker in (("stable_baselines3.common.vec_env.subproc_vec_env", "_worker(None, None, None)"),
                               ("gymnasium.vector.async_vector_env",
                                "_async_worker(0, None, None, None, None, None)")):
            calls = self.told(f"import {module} as module\n"
                              f"try: module.{worker}\nexcept (AttributeError, TypeError): pass\n")
            self.assertEqual(calls.count("counter role:environment 1"), 1, module)

    def test_pettingzoo_is_simulation(self):
        calls = self.told("from pettingzoo import ParallelEnv\nfrom pettingzoo.utils import BaseParallelWrapper\n"
                          "class Own(ParallelEnv):\n"
                          "    possible_agents = agents = []\n"
                          "    def step(self, actions): return {}, {}, {}, {}, {}\n"
                          "environment = BaseParallelWrapper(Own())\n"
                          "for _ in range(5): environment.step({})\n")
        self.assertEqual(self.count(calls, "operation simulation"), 5)
        self.assertEqual(self.order(calls), ["stage:rollout", "simulation"])

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
        self.assertEqual(calls.count("iterations begin"), 1)
        turns = [call for call in calls[calls.index("iterations begin"):] if call.startswith("begin operation")]
        self.assertEqual(turns[0], "begin operation rollout")
        self.assertEqual(self.count(calls, "operation update"), 2)
        self.assertEqual(self.steps(calls), 2)
        self.assertEqual(set(self.order(calls)) & {"rollout", "simulation", "inference", "update",
                                                   "backpropagation", "optimizer"},
                         {"rollout", "simulation", "inference", "update", "backpropagation",
                          "optimizer"})

    def test_rllib_samples_and_updates(self):
        calls = self.told(RLLIB)
        self.assertEqual(self.steps(calls), 2)
        self.assertEqual(calls.count("iterations begin"), 1)
        self.assertEqual(self.count(calls[calls.index("iterations begin"):], "operation weight_sync"), 2)
        self.assertEqual(self.count(calls, "operation update"), 2)
        self.assertGreaterEqual(self.count(calls, "operation rollout"), 2)
        self.assertGreaterEqual(self.count(calls, "operation inference"), 64)
        self.assertGreaterEqual(self.count(calls, "layer(2) ray._private.worker.get"), 1)
        # Without workers of its own one process does both in turn.
        roles = [call for call in calls if call.startswith("counter role:")]
        self.assertEqual(roles[:4], ["counter role:rollout 1", "counter role:train 1"] * 2)


    def test_what_sbx_predicts_in_a_rollout_is_inference(self):
        calls = self.told("from gymnasium import spaces\nfrom sbx.ppo.policies import PPOPolicy\n"
                          "policy = PPOPolicy(spaces.Discrete(2), spaces.Discrete(2))\n"
                          "for _ in range(3): policy.predict_all(0, None)\n", self.stand_in("sbx"))
        self.assertEqual(self.count(calls, "operation inference"), 3)

    def test_pufferlib_collects_and_updates(self):
        calls = self.told("import torch\nfrom pufferlib import emulation, pufferl, pufferlib, vector\n"
                          "class Own(pufferlib.PufferEnv):\n"
                          "    def reset(self, seed=None): pass\n"
                          "    def step(self, actions): pass\n"
                          "weight = torch.ones(4, requires_grad=True)\n"
                          "emulation.PettingZooPufferEnv().step(None)\n"
                          "trainer = pufferl.PuffeRL(vector.Serial([Own(), Own()]),\n"
                          "                          lambda: (weight * weight).sum().backward())\n"
                          "for _ in range(3):\n"
                          "    trainer.evaluate()\n"
                          "    trainer.train()\n"
                          "trainer.close()\n"
                          "own = Own()\nown.async_reset()\nown.send(None)\nown.recv()\n", self.stand_in("pufferlib"))
        self.assertEqual(self.count(calls, "operation simulation"), 2 + 3 * 2 * 2 + 3)
        self.assertEqual(self.count(calls, "operation update"), 3)
        self.assertEqual(self.count(calls, "operation backpropagation"), 3)
        self.assertEqual(self.steps(calls), 3)

    def test_a_loop_in_a_cell_of_a_notebook_ends_with_the_cell(self):
        calls = self.told("from IPython.core.events import EventManager\nimport gymnasium, torch\n"
                          "from gpubound import _core\nevents = EventManager()\n"
                          "environment = gymnasium.make('CartPole-v1')\n"
                          "weight = torch.ones(4, requires_grad=True)\n"
                          "for cell in range(2):\n"
                          "    events.trigger('pre_run_cell', None)\n"
                          "    for _ in range(2):\n"
                          "        environment.reset()\n"
                          "        environment.step(0)\n"
                          "        (weight * weight).sum().backward()\n"
                          "    events.trigger('post_run_cell', None)\n"
                          "    _core.phase('between')\n", self.stand_in("IPython"))
        for number in range(2):
            between = calls.index("phase between")
            cell, calls = calls[:between], calls[between + 1:]
            self.assertEqual(cell.count("begin operation stage:update"), 2)
            self.assertEqual(cell.count("end operation stage:update"), 2)
            self.assertEqual(self.steps(cell), 2)
            # The time between cells is no iteration's.
            self.assertEqual(cell[-1], "iterations begin")
            self.assertEqual(cell[:cell.index("begin operation stage:rollout")].count("iterations begin"), number)


class RoboticsTest(LibraryTest):
    """What trains robots, on environments of tensors that take no simulator."""

    def test_rsl_rl_collects_and_learns(self):
        calls = self.told(RSL_RL)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(self.count(calls, "operation simulation"), 3 * 4)
        self.assertEqual(self.count(calls, "operation inference"), 3 * 4)
        self.assertEqual(self.count(calls, "operation logging"), 3)
        self.assertEqual(self.count(calls, "operation stage:rollout"), 3)
        self.assertEqual(self.count(calls, "operation stage:update"), 3)
        self.assertEqual(self.count(calls, "operation optimizer"), 3 * 2)

    def test_skrl_collects_and_learns(self):
        calls = self.told(SKRL)
        self.assertEqual(self.steps(calls), 3)
        self.assertGreaterEqual(self.count(calls, "operation simulation"), 3 * 4)
        self.assertGreaterEqual(self.count(calls, "operation inference"), 3 * 4)
        self.assertGreaterEqual(self.count(calls, "operation sample"), 3)
        self.assertEqual(self.count(calls, "operation optimizer"), 3)

    def test_rl_games_collects_and_learns(self):
        calls = self.told(RL_GAMES)
        self.assertEqual(self.steps(calls), 3)
        self.assertEqual(self.count(calls, "operation rollout"), 3)
        self.assertEqual(self.count(calls, "operation inference"), 3 * 4)
        self.assertGreaterEqual(self.count(calls, "operation simulation"), 3 * 4)
        self.assertEqual(self.count(calls, "operation optimizer"), 3)

    def test_brax_trains_in_epochs_that_are_iterations(self):
        calls = self.told(BRAX)
        self.assertGreaterEqual(self.count(calls, "annotation jitted training step:training_epoch"), 2)
        self.assertEqual(self.steps(calls), 2)

    def test_steps_of_brax_and_mjx_are_simulation(self):
        calls = self.told("import jax, jax.numpy as jnp, mujoco\nfrom mujoco import mjx\nfrom brax import envs\n"
                          "environment = envs.get_environment('fast')\n"
                          "state = jax.jit(environment.reset)(jax.random.PRNGKey(0))\n"
                          "step = jax.jit(environment.step)\n"
                          "for _ in range(3): state = step(state, jnp.zeros(environment.action_size))\n"
                          "model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body><freejoint/>'\n"
                          "    '<geom size=\"1\"/></body></worldbody></mujoco>')\n"
                          "model, data = mjx.put_model(model), mjx.make_data(model)\n"
                          "step = jax.jit(jax.vmap(mjx.step, in_axes=(None, 0)))\n"
                          "data = jax.tree.map(lambda value: jnp.stack([value] * 2), data)\n"
                          "for _ in range(3): data = step(model, data)\n")
        self.assertEqual(self.count(calls, "operation simulation"), 1 + 3 + 3)
        self.assertIn("stage:rollout", self.order(calls))


class TimerTest(LibraryTest):
    def test_trl_timers_are_operations(self):
        calls = self.told("from trl.extras.profiling import ProfilingContext\n"
                          "for name in ('Trainer.generate', 'Trainer.reward'):\n"
                          "  with ProfilingContext(name, report_to=[]): pass\n")
        self.assertEqual(self.order(calls), ["Trainer.generate", "Trainer.reward"])

    def test_trl_trainers_roll_out_ask_for_rewards_and_learn_in_turn(self):
        program = pathlib.Path(__file__).parent / "truth" / "programs" / "trl_grpo.py"
        for trainer in ("GRPO", "RLOO"):
            calls = self.told("import sys\nsys.argv = ['program', '2']\n"
                              + program.read_text().replace("GRPO", trainer))
            self.assertEqual(self.steps(calls), 2, trainer)
            self.assertEqual(self.count(calls, "operation rollout"), 2, trainer)
            self.assertEqual(self.count(calls, "operation reward"), 2, trainer)
            self.assertEqual([call for call in calls if call.startswith("counter role:")],
                             ["counter role:rollout 1", "counter role:train 1"] * 2, trainer)

    def test_trl_trainers_beside_vllm_are_hooked(self):
        calls = self.told("import trl.generation.vllm_generation\n"
                          "import trl.experimental.async_grpo.async_grpo_trainer\n"
                          "import trl.experimental.async_grpo.async_rollout_worker\n")
        hooked = {call.rpartition(" of ")[2] for call in calls if call.startswith("ledger hooks_installed 2 ")}
        self.assertLessEqual({"trl.generation.vllm_generation", "trl.experimental.async_grpo.async_grpo_trainer",
                              "trl.experimental.async_grpo.async_rollout_worker"}, hooked)

    def test_a_transformers_trainer_step_is_an_iteration(self):
        calls = self.told(
            "import types\nfrom transformers.trainer_callback import CallbackHandler\n"
            "handler = CallbackHandler([], None, None, None, None)\n"
            "handler.on_step_end(None, None, types.SimpleNamespace())\n")
        self.assertEqual(self.steps(calls), 1)


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

ENVIRONMENT = """
import torch
class Reach:
    num_envs, num_actions, num_agents = 4, 2, 1
    max_episode_length = 10
    device = torch.device("cpu")
    def begin(self):
        self.position, self.age = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
        return self.position
    def move(self, actions):
        self.position = self.position + 0.1 * torch.cat([actions, actions[:, :1]], 1)
        self.age = (self.age + 1) % self.max_episode_length
        return self.position, -self.position.norm(dim=1), self.age == 0
"""

RSL_RL = ENVIRONMENT + """
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict
class Own(Reach, VecEnv):
    cfg = {}
    def __init__(self):
        self.begin()
        self.episode_length_buf = self.age
    def get_observations(self):
        return TensorDict({"policy": self.position}, batch_size=[4])
    def step(self, actions):
        _, rewards, dones = self.move(actions)
        return self.get_observations(), rewards, dones.long(), {}
network = {"class_name": "MLPModel", "hidden_dims": [8], "activation": "elu"}
runner = OnPolicyRunner(Own(), {
    "num_steps_per_env": 4, "save_interval": 100, "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "algorithm": {"class_name": "PPO", "num_learning_epochs": 1, "num_mini_batches": 2},
    "actor": {**network, "distribution_cfg": {"class_name": "GaussianDistribution"}}, "critic": network})
runner.learn(3)
"""

SKRL = ENVIRONMENT + """
import gymnasium
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import Wrapper
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
class Own(Reach, gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (3,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))
    state_space = None
class Wrapped(Wrapper):
    def reset(self):
        return self._env.begin(), {}
    def step(self, actions):
        position, rewards, dones = self._env.move(actions)
        return position, rewards[:, None], dones[:, None], torch.zeros_like(dones)[:, None], {}
    def state(self):
        return None
    def render(self): pass
    def close(self): pass
environment = Wrapped(Own())
SPACES = {"observation_space": Own.observation_space, "action_space": Own.action_space, "device": "cpu"}
class Policy(GaussianMixin, Model):
    def __init__(self):
        Model.__init__(self, **SPACES)
        GaussianMixin.__init__(self)
        self.net, self.deviation = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    def compute(self, inputs, role):
        return self.net(inputs["observations"]), {"log_std": self.deviation}
class Value(DeterministicMixin, Model):
    def __init__(self):
        Model.__init__(self, **SPACES)
        DeterministicMixin.__init__(self)
        self.net = torch.nn.Linear(3, 1)
    def compute(self, inputs, role):
        return self.net(inputs["observations"]), {}
agent = PPO(models={"policy": Policy(), "value": Value()}, memory=RandomMemory(memory_size=4, num_envs=4),
            cfg={"rollouts": 4, "learning_epochs": 1, "mini_batches": 1,
                 "experiment": {"write_interval": 0, "checkpoint_interval": 0}},
            observation_space=Own.observation_space, action_space=Own.action_space, device="cpu")
SequentialTrainer(cfg={"timesteps": 12, "headless": True}, env=environment, agents=agent).train()
"""

RL_GAMES = ENVIRONMENT + """
import gymnasium as gym, tempfile
from rl_games.common import env_configurations, vecenv
from rl_games.common.ivecenv import IVecEnv
from rl_games.torch_runner import Runner
class Own(Reach, IVecEnv):
    def step(self, actions):
        position, rewards, dones = self.move(actions)
        return position, rewards, dones.long(), {}
    def reset(self):
        return self.begin()
    def get_env_info(self):
        return {"observation_space": gym.spaces.Box(-1, 1, (3,)), "action_space": gym.spaces.Box(-1, 1, (2,)),
                "agents": 1, "value_size": 1}
vecenv.register("OWN", lambda *_, **__: Own())
env_configurations.register("own", {"env_creator": lambda **_: None, "vecenv_type": "OWN"})
runner = Runner()
runner.load({"params": {
    "seed": 1, "algo": {"name": "a2c_continuous"}, "model": {"name": "continuous_a2c_logstd"},
    "network": {"name": "actor_critic", "separate": False, "space": {"continuous": {
        "mu_activation": "None", "sigma_activation": "None", "mu_init": {"name": "default"},
        "sigma_init": {"name": "const_initializer", "val": 0}, "fixed_sigma": True}},
        "mlp": {"units": [8], "activation": "elu", "initializer": {"name": "default"}}},
    "config": {"name": "own", "env_name": "own", "device": "cpu", "train_dir": tempfile.mkdtemp(), "ppo": True,
               "gamma": 0.9, "tau": 0.9, "learning_rate": 1e-3, "lr_schedule": None,
               "normalize_advantage": True, "e_clip": 0.2, "torch_compile": False,
               "entropy_coef": 0, "critic_coef": 1, "bounds_loss_coef": 0, "clip_value": True, "grad_norm": 1,
               "truncate_grads": True, "horizon_length": 4, "minibatch_size": 16, "mini_epochs": 1,
               "num_actors": 4, "max_epochs": 3, "score_to_win": 1e9, "save_best_after": 100, "save_frequency": 0,
               "normalize_input": False, "normalize_value": False, "mixed_precision": False,
               "print_stats": False, "reward_shaper": {"scale_value": 1}}}})
runner.run({"train": True, "play": False})
"""

# Brax 0.14.2 calls a function of JAX that 0.10 no longer has.
BRAX = """
import jax, jax.numpy as jnp
jax.device_put_replicated = lambda tree, devices: jax.tree.map(lambda leaf: jnp.stack([leaf] * len(devices)), tree)
from brax import envs
from brax.training.agents.ppo import train as ppo
ppo.train(envs.get_environment("fast"), num_timesteps=64, episode_length=8, num_envs=4, batch_size=4,
          num_minibatches=1, num_updates_per_batch=1, unroll_length=4, num_evals=3, num_eval_envs=4,
          num_resets_per_eval=0)
"""

RLLIB = """
import ray
from ray.rllib.algorithms.ppo import PPOConfig
ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
algorithm = (PPOConfig().environment('CartPole-v1').env_runners(num_env_runners=0)
             .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)
             .build_algo())
for _ in range(2): algorithm.train()
ray.get(ray.put(1))
ray.shutdown()
"""


if __name__ == "__main__":
    unittest.main()
