# SPDX-License-Identifier: Apache-2.0
"""Hook files of frameworks that are not installed here, on stand-ins (stand_ins/) with the names of their real
sources: what a short program that calls them as the framework does tells the collector."""
import json
import pathlib
import tempfile
import unittest
import unittest.mock

import hooked_names
import stand_ins
from told import PACKAGE, LibraryTest

HOOKS = PACKAGE / "hooks"
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
# What these are made from lies in packages that libraries_test.py has.
NEED_MORE = {"sbx"}


def described(name):
    return json.loads((HOOKS / f"{name}.json").read_text())


class NamesTest(unittest.TestCase):
    def test_each_says_which_version_it_stands_for_and_that_is_the_one_looked_at(self):
        for name in stand_ins.names():
            with self.subTest(stand_in=name):
                distribution, version, _ = stand_ins.described(name)
                hooks = described(name)
                self.assertIn(distribution, hooks.get("distributions", [hooks["library"]]))
                if hooks.get("checked", "commit").startswith("commit"):
                    continue
                self.assertEqual(version, hooks["checked"])

    def test_one_that_does_not_say_so_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(
                stand_ins, "FOLDER", pathlib.Path(folder)):
            (pathlib.Path(folder) / "odd.txt").write_text("# odd: has no version\n=== odd.py\n")
            with self.assertRaisesRegex(ValueError, "expected '# DISTRIBUTION VERSION: why'"):
                stand_ins.described("odd")

    def test_it_has_every_name_of_its_hook_file(self):
        for name in stand_ins.names():
            with self.subTest(stand_in=name), tempfile.TemporaryDirectory() as folder:
                sources = hooked_names.Sources([stand_ins.make(pathlib.Path(folder), name)])
                self.assertEqual(list(hooked_names.missing(described(name), sources)), [])

    def test_a_name_that_is_missing_is_named(self):
        hook = {"module": "odd", "class": "Own", "names": ["@steps", "gone"], "counters": {"a": "self.b", "c": "none"}}
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "odd.py").write_text("class Own:\n    def step(self): pass\n")
            said = list(hooked_names.missing(
                {"lists": {"steps": ["step"]}, "hooks": [hook, {"module": "odd", "names": ["made"]},
                                                         {"module": "other", "names": ["made"]},
                                                         {**hook, "class": "Else"}]},
                hooked_names.Sources([folder])))
        self.assertEqual(said, ["odd.Own has no gone", "odd: step, gone has no parameter none",
                                "odd has no made", "no module other", "odd has no class Else"])


class TableTest(unittest.TestCase):
    """The table of docs/python.md: file, looked at, tried on, what is hooked."""

    def setUp(self):
        rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")]
                for line in DOCS.read_text().splitlines() if line.startswith("| `") and ".json` |" in line]
        self.rows = {row[0].strip("`"): row for row in rows}
        self.assertEqual(len(self.rows), len(rows), "a file has two rows")

    def test_every_hook_file_has_a_row_and_every_row_a_file(self):
        self.assertEqual(set(self.rows), {path.name for path in HOOKS.glob("*.json")})

    def test_a_row_has_the_version_that_the_file_was_written_for(self):
        for name, row in self.rows.items():
            with self.subTest(file=name):
                self.assertEqual(len(row), 4)
                self.assertIn(described(name.removesuffix(".json")).get("checked", ""), row[1])

    def test_a_row_says_whether_it_was_tried_on_a_stand_in(self):
        for name, row in self.rows.items():
            with self.subTest(file=name):
                package = name.removesuffix(".json")
                kind = "stand-in" if package in stand_ins.names() else "(real|names only)"
                self.assertRegex(row[2], f"^{kind}($|[;,] )")
                if kind == "stand-in":
                    self.assertIn(stand_ins.described(package)[1] if package != "vllm" else "commit", row[1])


class StandInTest(LibraryTest):
    """Each test imports what it uses only; nothing may go wrong where all of it is imported either."""

    def test_all_of_it_is_hooked(self):
        for name in sorted(set(stand_ins.names()) - NEED_MORE):
            with self.subTest(stand_in=name):
                calls = self.told("".join(f"import {module}\n" for module in stand_ins.importable(name)),
                                  self.stand_in(name))
                hooked = {call.rpartition(" of ")[2] for call in calls if call.startswith("ledger hooks_installed")}
                # One may be derived from one that another module has hooked by then.
                missing = {hook["module"] for hook in described(name)["hooks"]} - hooked
                self.assertEqual(missing & set(stand_ins.importable(name)), set())

    def said(self, name, program):
        """Operations by their begin, counters and iterations of `program` with the stand-in `name`."""
        calls = self.told(program, self.stand_in(name))
        said = [call[len("begin operation "):] if call.startswith("begin operation ") else
                "step" if call.startswith("step ") else call for call in calls
                if call.startswith(("begin operation ", "counter ", "step "))]
        return said

    def test_verl_timers_are_operations_and_its_step_an_iteration(self):
        self.assertEqual(self.said("verl", "from verl.utils.profiler.performance import marked_timer\nraw = {}\n"
                                   "for _ in range(2):\n  with marked_timer('step', raw):\n"
                                   "    with marked_timer('gen', raw, color='red'): pass\n"
                                   "assert set(raw) == {'step', 'gen'}\n"), ["step", "gen", "step"] * 2)

    def test_verl_samples_learns_and_syncs(self):
        said = self.said("verl", "from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer\n"
                         "from verl.workers.engine_workers import ActorRolloutRefWorker\n"
                         "from verl.checkpoint_engine.base import CheckpointEngineManager\n"
                         "buffer, worker = ReplayBuffer(), ActorRolloutRefWorker()\n"
                         "manager = CheckpointEngineManager(worker)\n"
                         "for step in (1, 2):\n"
                         "    buffer.sample(step, 'val', 4)\n"
                         "    buffer.sample(global_steps=step, partition_id='train', batch_size=4)\n"
                         "    worker.compute_log_prob(None)\n"
                         "    worker.update_actor(None)\n"
                         "    manager.update_weights(step)\n")
        self.assertEqual(said, [
            "sample", "sample", "counter consumed_version 0", "counter consumed_samples 4", "forward",
            "counter role:train 1", "update", "weight_sync", "counter policy_version 1", "counter policy_version 1",
            "sample", "sample", "counter consumed_version 1", "counter consumed_samples 2",
            "counter consumed_version 0", "counter consumed_samples 2", "forward", "update", "weight_sync",
            "counter policy_version 2", "counter policy_version 2"])

    def test_verl_rolls_out_and_scores_in_workers(self):
        said = self.said("verl", "import asyncio\n"
                         "from verl.experimental.agent_loop.agent_loop import AgentLoopWorker\n"
                         "from verl.experimental.reward_loop.reward_loop import RewardLoopWorker\n"
                         "from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer\n"
                         "from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension\n"
                         "asyncio.run(AgentLoopWorker().generate_sequences([]))\n"
                         "asyncio.run(vLLMHttpServer().set_global_steps(3))\n"
                         "vLLMColocateWorkerExtension().update_weights_from_ipc()\n"
                         "asyncio.run(RewardLoopWorker().compute_score_batch([1]))\n")
        self.assertEqual(said, ["counter role:rollout 1", "rollout", "reward", "counter policy_version 3",
                                "weight_sync", "counter role:reward 1", "reward"])

    def test_verl_asynchronous_trainer_waits_for_samples_and_syncs(self):
        said = self.said("verl", "import asyncio\n"
                         "from verl.experimental.fully_async_policy.fully_async_trainer import FullyAsyncTrainer\n"
                         "trainer = FullyAsyncTrainer()\n"
                         "asyncio.run(trainer._get_samples_from_queue())\n"
                         "asyncio.run(trainer._fit_update_weights())\n")
        self.assertEqual(said, ["sample", "weight_sync"])

    def test_openrlhf_phases_are_operations_and_its_step_an_iteration(self):
        said = self.said("openrlhf", "from openrlhf.trainer.ppo_trainer import PPOTrainer\nPPOTrainer().fit(2)\n")
        turn = ["rollout", "make_experience", "counter consumed_samples 2", "update", "weight_sync"]
        self.assertEqual(said, [*turn, "counter policy_version 1", "step", *turn, "counter policy_version 2", "step"])

    def test_openrlhf_workers_learn_and_take_weights(self):
        said = self.said("openrlhf", "from openrlhf.trainer.ray.ppo_actor import PolicyModelActor\n"
                         "from openrlhf.trainer.ray.vllm_worker_wrap import WorkerWrap\n"
                         "actor = PolicyModelActor()\nactor.forward(None)\nactor.fit()\n"
                         "actor.broadcast_to_vllm()\nWorkerWrap().update_weight('w', None, None)\n")
        self.assertEqual(said, ["forward", "counter role:train 1", "update", "weight_sync", "counter role:rollout 1",
                                "weight_sync"])

    def test_nemo_rl_timers_are_operations_and_its_step_an_iteration(self):
        said = self.said("nemo_rl", "from nemo_rl.utils.timer import Timer, ThreadSafeTimer\n"
                         "for timer in (Timer(), ThreadSafeTimer()):\n"
                         "  with timer.time('total_step_time'):\n"
                         "    with timer.time('generation'): pass\n"
                         "  assert set(timer.labels) == {'total_step_time', 'generation'}\n")
        self.assertEqual(said, ["total_step_time", "generation", "step"] * 2)

    def test_nemo_rl_workers_learn_generate_and_sync(self):
        said = self.said("nemo_rl", "import asyncio, types\n"
                         "from nemo_rl.models.policy.workers.dtensor_policy_worker_v2 import DTensorPolicyWorkerV2\n"
                         "from nemo_rl.models.generation.vllm.vllm_worker_async import "
                         "VllmAsyncGenerationWorkerImpl\n"
                         "from nemo_rl.weight_sync.ipc_weight_synchronizer import IPCWeightSynchronizer\n"
                         "from nemo_rl.environments.interfaces import EnvironmentInterface\n"
                         "from nemo_rl.algorithms import grpo\n"
                         "class Math(EnvironmentInterface):\n"
                         "    def step(self, message_log_batch, metadata): pass\n"
                         "async def generate():\n"
                         "    async for _ in VllmAsyncGenerationWorkerImpl().generate_async(None): pass\n"
                         "worker = DTensorPolicyWorkerV2()\n"
                         "worker.get_logprobs(None)\nworker.train(None, None)\nworker.stream_weights_via_ipc_zmq()\n"
                         "grpo.refit_policy_generation(None, types.SimpleNamespace(\n"
                         "    weight_synchronizer=IPCWeightSynchronizer()), True)\n"
                         "asyncio.run(generate())\nMath().step([], [])\n")
        self.assertEqual([*dict.fromkeys(said)], ["forward", "counter role:train 1", "update", "weight_sync",
                                                  "counter role:rollout 1", "rollout", "counter role:environment 1",
                                                  "simulation"])
        self.assertEqual(said.count("weight_sync"), 2)

    def test_nemo_rl_replay_buffer_says_what_is_consumed(self):
        said = self.said("nemo_rl", "from nemo_rl.algorithms.async_utils.replay_buffer import ReplayBufferImpl\n"
                         "buffer = ReplayBufferImpl()\nbuffer.sample(2, 5, 1)\nbuffer.trajectories = [1, 2, 3]\n"
                         "buffer.sample(2, current_weight_version=5, max_age_steps=1)\n")
        self.assertEqual(said, ["sample", "counter policy_version 5", "sample", "counter policy_version 5",
                                "counter consumed_samples 2"])

    def test_slime_rolls_out_learns_and_syncs(self):
        said = self.said("slime", "from slime.backends.megatron_utils.actor import MegatronTrainRayActor\n"
                         "from slime.ray.actor_group import RayTrainGroup\n"
                         "from slime.rollout.sglang_rollout import generate_rollout\n"
                         "worker = MegatronTrainRayActor()\n"
                         "generate_rollout(None, 0, lambda _: [1])\n"
                         "worker.train(0, None)\nRayTrainGroup([worker]).update_weights()\n")
        self.assertEqual(said, ["counter role:rollout 1", "rollout", "reward", "counter role:train 1", "update",
                                "forward", "weight_sync", "counter policy_version 1", "step"])

    def test_areal_rolls_out_learns_and_syncs(self):
        said = self.said("areal", "from areal.trainer.rl_trainer import PPOTrainer\n"
                         "from areal.trainer.ppo.actor import PPOActorController\n"
                         "PPOTrainer(PPOActorController()).train()\n")
        turn = ["rollout", "counter consumed_samples 3", "forward", "update", "weight_sync"]
        self.assertEqual(said, [*turn, "counter policy_version 1", "step", *turn, "counter policy_version 2", "step"])

    def test_areal_engines_of_one_program_have_their_roles_in_turn(self):
        said = self.said("areal", "from areal.infra.workflow_executor import WorkflowExecutor\n"
                         "from areal.engine.fsdp_engine import FSDPEngine\n"
                         "engine = FSDPEngine()\nWorkflowExecutor().prepare_batch([1], None)\n"
                         "engine.forward_batch([])\nengine.train_batch([], None, None)\n"
                         "engine.update_weights(None)\nengine.set_version(4)\n")
        self.assertEqual(said, ["counter role:rollout 1", "rollout", "counter discarded_samples:rejected 1",
                                "forward", "counter role:train 1", "update", "weight_sync",
                                "counter policy_version 4"])

    def test_skyrl_timers_are_operations_and_its_step_an_iteration(self):
        calls = self.told("import asyncio\nfrom skyrl.train.utils.utils import Timer\n"
                          "async def train(timings):\n"
                          "  for _ in range(2):\n    async with Timer('step', timings):\n"
                          "      with Timer('sync_weights', timings): await asyncio.sleep(0)\n"
                          "timings = {}\nasyncio.run(train(timings))\n"
                          "assert set(timings) == {'step', 'sync_weights'}\n",
                          self.stand_in("skyrl"))
        self.assertEqual(self.order(calls), ["step", "sync_weights"])
        self.assertEqual(self.steps(calls), 2)
        self.assertEqual(self.count(calls, "operation step"), calls.count("end operation step"))

    def test_skyrl_workers_learn_and_the_trainer_says_how_stale_samples_are(self):
        said = self.said("skyrl", "import asyncio, types\n"
                         "from skyrl.backends.skyrl_train.workers.fsdp.fsdp_worker import FSDPPolicyWorkerBase\n"
                         "from skyrl.train import fully_async_trainer as trainers\n"
                         "manager, trainer = trainers._AsyncStalenessManager(), trainers.FullyAsyncRayPPOTrainer()\n"
                         "worker = FSDPPolicyWorkerBase()\n"
                         "asyncio.run(manager.notify_capacity_change(7))\n"
                         "groups = [types.SimpleNamespace(global_step_when_scheduled=step) for step in (5, 7, 7)]\n"
                         "trainer.convert_generation_group_mini_batch_to_training_input(groups, [1, 2])\n"
                         "worker.forward(None)\nworker.forward_backward(None)\nworker.optim_step()\n"
                         "asyncio.run(worker.broadcast_to_inference_engines(None, None))\n")
        self.assertEqual(said, ["counter policy_version 7", "counter discarded_samples:filtered 2",
                                "counter consumed_version 5", "counter consumed_samples 1",
                                "counter consumed_version 7", "counter consumed_samples 2",
                                "forward", "counter role:train 1", "update", "update", "weight_sync"])

    def test_rlinf_workers_have_roles_and_its_step_is_an_iteration(self):
        said = self.said("rlinf", "import asyncio\nfrom rlinf.utils.distributed import ScopedTimer\n"
                         "from rlinf.workers.actor.fsdp_actor_worker import EmbodiedFSDPActor\n"
                         "from rlinf.workers.env.env_worker import EnvWorker\n"
                         "from rlinf.workers.reward.reward_worker import RewardWorker\n"
                         "from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker\n"
                         "timer, rollout, actor = ScopedTimer(), MultiStepRolloutWorker(), EmbodiedFSDPActor()\n"
                         "with timer('step'):\n"
                         "    rollout.set_global_step(2)\n"
                         "    with timer('generate_rollouts'): asyncio.run(rollout.generate_one_epoch(None, None))\n"
                         "    EnvWorker().env_interact_step(None, 0)\n"
                         "    RewardWorker().compute_rewards(None, None)\n"
                         "    actor.run_training()\n    asyncio.run(actor.sync_model_to_rollout())\n")
        self.assertEqual(said, ["step", "counter policy_version 2", "generate_rollouts", "counter role:rollout 1",
                                "rollout", "inference", "counter role:environment 1", "simulation",
                                "counter role:reward 1", "reward", "counter role:train 1", "update", "weight_sync",
                                "step"])

    def test_prime_rl_waits_syncs_and_says_which_policy_it_is(self):
        said = self.said("prime_rl", "import asyncio, types\n"
                         "from prime_rl.orchestrator.dispatcher import Dispatcher\n"
                         "from prime_rl.orchestrator.orchestrator import Orchestrator\n"
                         "from prime_rl.orchestrator.watcher import WeightWatcher\n"
                         "from prime_rl.trainer.rl.data import DataLoader\n"
                         "from prime_rl.transports.weights.nccl import NCCLWeightBroadcast\n"
                         "dispatcher = Dispatcher()\nasyncio.run(dispatcher.schedule_group_episode(None, None))\n"
                         "asyncio.run(WeightWatcher([dispatcher]).apply_policy_update(4))\n"
                         "asyncio.run(Orchestrator().finalize_train_batch(types.SimpleNamespace(samples=[1, 2])))\n"
                         "for step in (1, 2):\n"
                         "    DataLoader().wait_for_batch()\n"
                         "    NCCLWeightBroadcast().broadcast_weights(None, step=step)\n")
        self.assertEqual(said, ["counter role:rollout 1", "rollout", "weight_sync", "counter policy_version 4",
                                "counter consumed_samples 2", "counter role:train 1", "sample", "weight_sync",
                                "counter policy_version 1", "step", "sample", "weight_sync",
                                "counter policy_version 2", "step"])

    def test_torchtitan_spans_are_operations_and_its_step_an_iteration(self):
        said = self.said("torchtitan", "import asyncio\n"
                         "from torchtitan.observability.structured_logger.structured_logging import log_trace_span\n"
                         "from torchtitan.experiments.rl.actors.trainer import PolicyTrainer\n"
                         "from torchtitan.experiments.rl.actors.generator import VLLMGenerator\n"
                         "from torchtitan.experiments.rl.rollout.rollouter import Rollouter\n"
                         "async def turn():\n"
                         "    with log_trace_span('train_step'): await PolicyTrainer().forward_backward([], 1)\n"
                         "asyncio.run(turn())\nasyncio.run(VLLMGenerator()._pull_model_state_dict(1))\n"
                         "asyncio.run(Rollouter().run_group_rollouts(generate_fn=None, sample=1, group_id=0,\n"
                         "                                           group_size=2, sampling=None))\n")
        self.assertEqual(said, ["train_step", "forward_backward", "counter role:train 1", "counter policy_version 0",
                                "step", "counter role:rollout 1", "weight_sync", "counter policy_version 1",
                                "rollout", "reward"])

    def test_steps_of_a_serving_engine_are_inference(self):
        said = self.said("vllm", "from vllm.v1.engine.core import EngineCoreProc\n"
                         "from vllm.v1.worker.gpu_worker import Worker\nworker = Worker()\n"
                         "EngineCoreProc().run_busy_loop(2)\nworker.execute_model(None)\n"
                         "worker.start_weight_update()\nworker.update_weights({})\nworker.finish_weight_update()\n")
        self.assertEqual(said, ["counter role:rollout 1", *["inference"] * 3, *["weight_sync"] * 3])
        said = self.said("sglang", "from sglang.srt.managers.scheduler import Scheduler\n"
                         "from sglang.srt.managers.scheduler_components import weight_updater\n"
                         "Scheduler().run_batch(None)\n"
                         "for version in ('6', 'default'):\n    weight_updater.SchedulerWeightUpdaterManager()."
                         "update_weights_from_distributed(version)\n")
        self.assertEqual(said, ["counter role:rollout 1", "inference", "weight_sync", "counter policy_version 6",
                                "weight_sync"])

    def test_simulators_on_the_gpu_are_simulation_and_their_physics_the_simulator(self):
        for name, program, layer in (
                ("genesis", "from genesis.engine.scene import Scene\nscene = Scene()\nscene.reset()\n",
                 "Simulator.step"),
                ("isaaclab", "from isaaclab.envs.manager_based_rl_env import ManagerBasedRLEnv\n"
                 "scene = ManagerBasedRLEnv()\nscene.reset()\n", "SimulationContext.step"),
                ("mjlab", "from mjlab.envs.manager_based_rl_env import ManagerBasedRlEnv\n"
                 "scene = ManagerBasedRlEnv()\nscene.reset()\n", "Simulation.step")):
            with self.subTest(stand_in=name):
                calls = self.told(program + "for _ in range(3): scene.step(None)\n", self.stand_in(name))
                self.assertEqual(self.count(calls, "operation simulation"), 4)
                self.assertIn(self.count(calls, f"layer(4) {layer}"), (3, 6))
                self.assertIn("rollout", str(self.order(calls)))
        calls = self.told("import mujoco_warp\nfor _ in range(3): mujoco_warp.step(None, None)\n",
                          self.stand_in("mujoco_warp"))
        self.assertEqual(self.count(calls, "layer(4) mujoco_warp.step"), 3)


if __name__ == "__main__":
    unittest.main()
