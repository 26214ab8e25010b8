# SPDX-License-Identifier: Apache-2.0
"""The interface of PufferLib's vector environments; see pufferlib.py."""


class Serial:
    def __init__(self, environments):
        self.envs = environments

    def async_reset(self, seed=None):
        for environment in self.envs:
            environment.reset(seed)

    def send(self, actions):
        for environment in self.envs:
            environment.step(actions)

    def recv(self):
        pass


class Multiprocessing(Serial):
    pass


class Ray(Serial):
    pass
