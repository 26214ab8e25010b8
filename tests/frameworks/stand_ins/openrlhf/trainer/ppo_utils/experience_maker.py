# SPDX-License-Identifier: Apache-2.0
"""See tests/frameworks/stand_ins/openrlhf/trainer/ppo_trainer.py."""


class RemoteExperienceMaker:
    def make_experience_batch(self, rollout_samples):
        return rollout_samples
