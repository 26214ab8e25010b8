# SPDX-License-Identifier: Apache-2.0
"""See tests/frameworks/stand_ins/openrlhf/trainer/ppo_trainer.py."""


class SamplesGenerator:
    def generate_samples(self, **generate_kwargs):
        return [generate_kwargs]
