# SPDX-License-Identifier: Apache-2.0
"""The interface of PufferLib's environments around PettingZoo's; see pufferlib.py."""


class PettingZooPufferEnv:
    def reset(self, seed=None):
        pass

    def step(self, actions):
        pass
