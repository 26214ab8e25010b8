# SPDX-License-Identifier: Apache-2.0
"""The interface of SBX's policies: where they lie, and what the rollouts of its PPO call. SBX itself takes
TensorFlow Probability and a Keras of its own."""
from stable_baselines3.common.policies import BasePolicy


class BaseJaxPolicy(BasePolicy):
    def _predict(self, observation, deterministic=False):
        del deterministic
        return observation
