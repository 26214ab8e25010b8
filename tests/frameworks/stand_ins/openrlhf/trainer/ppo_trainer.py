# SPDX-License-Identifier: Apache-2.0
"""The phases of OpenRLHF 0.11.2's PPO trainer: where its classes lie and what they call. OpenRLHF itself
needs vLLM, DeepSpeed and GPUs."""
from .ppo_utils.experience_maker import RemoteExperienceMaker
from .ppo_utils.samples_generator import SamplesGenerator


class BasePPOTrainer:
    def __init__(self):
        self.samples_generator = SamplesGenerator()
        self.experience_maker = RemoteExperienceMaker()

    def train_step(self, rollout_samples, global_step):
        self.experience_maker.make_experience_batch(rollout_samples)
        status = self.ppo_train(global_step)
        self.broadcast_to_vllm()
        return status, global_step + 1

    def ppo_train(self, global_steps):
        return {"step": global_steps}

    def broadcast_to_vllm(self):
        pass


class PPOTrainer(BasePPOTrainer):
    def fit(self, steps):
        for step in range(steps):
            self.train_step(self.samples_generator.generate_samples(), step)
