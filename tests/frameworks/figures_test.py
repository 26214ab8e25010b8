# SPDX-License-Identifier: Apache-2.0
"""What the report says of a program that knows nothing of gpubound: weight syncs, how stale samples are, and roles
come from hooks alone. The framework is a stand-in (stand_ins/verl.txt). Environment: GPUBOUND_TEST_COMMAND."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import stand_ins

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
UPDATES = 8
SAMPLES = 4  # an update; half of them are of the policy before
PROGRAM = f"""
import asyncio, multiprocessing, time
from verl.checkpoint_engine.base import CheckpointEngineManager
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer
from verl.utils.profiler.performance import marked_timer
from verl.workers.engine_workers import ActorRolloutRefWorker


class Rollouts(AgentLoopWorker):
    async def generate_sequences(self, batch):
        time.sleep(0.01)
        return batch


class Actor(ActorRolloutRefWorker):
    def update_actor(self, data):
        time.sleep(0.02)

    async def update_weights(self, global_steps=None, mode="auto"):
        time.sleep(0.01)
        return {{}}


def act():
    for _ in range({UPDATES}):
        asyncio.run(Rollouts().generate_sequences([]))


def main():
    child = multiprocessing.Process(target=act)
    child.start()
    buffer, actor = ReplayBuffer(), Actor()
    manager = CheckpointEngineManager(actor)
    for step in range(1, {UPDATES} + 1):
        with marked_timer("step", {{}}):
            buffer.sample(step, "train", {SAMPLES})
            actor.update_actor(None)
            manager.update_weights(step)
    child.join()


if __name__ == "__main__":
    main()
"""


class FiguresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        library = stand_ins.make(pathlib.Path(folder.name) / "library", "verl")
        program = library / "train.py"
        program.write_text(PROGRAM)
        run = f"{folder.name}/x.gpubound"
        cls.output_of("run", "-q", "-o", run, "--", sys.executable, "-B", str(program))
        cls.report = json.loads(cls.output_of("report", run, "--json", "--all-processes"))
        cls.samples = cls.report["run"]["training"]["samples"]

    @staticmethod
    def output_of(*words):
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout

    def test_each_iteration_has_a_weight_sync_of_which_the_trainer_waits(self):
        (trainer,) = [process for process in self.report["processes"]
                      if (process.get("training") or {}).get("weight_sync")]
        sync = trainer["training"]["weight_sync"]
        self.assertGreaterEqual(sync["iterations"], UPDATES // 2)
        self.assertEqual(sync["count"], sync["iterations"])
        self.assertGreaterEqual(sync["exposed_ns"], sync["count"] * 10_000_000)
        self.assertEqual(sync["hidden_ns"], 0)

    def test_samples_are_as_stale_as_the_framework_counts_them(self):
        self.assertEqual(self.samples["consumed"], UPDATES * SAMPLES)
        self.assertEqual(self.samples["unknown_version"], SAMPLES)  # before the first policy was announced
        half = (UPDATES - 1) * SAMPLES / 2
        self.assertEqual(self.samples["versions_behind"],
                         [{"behind": 0, "samples": half}, {"behind": 1, "samples": half}])

    def test_processes_have_the_roles_of_their_classes(self):
        roles = self.report["run"]["training"]["roles"]["roles"]
        self.assertEqual([(role["role"], [process["inferred"] for process in role["processes"]]) for role in roles],
                         [("rollout", [False]), ("train", [False])])

    def test_nothing_could_not_be_hooked(self):
        self.assertEqual([entry for entry in self.report["ledger"] if entry["counter"] == "hooks_failed"], [])


if __name__ == "__main__":
    unittest.main()
