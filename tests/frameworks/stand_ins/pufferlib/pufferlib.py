# SPDX-License-Identifier: Apache-2.0
"""The interface of PufferLib's own environments, which are vector environments in two calls themselves. PufferLib
is compiled where it is installed, against an installed PyTorch."""


class PufferEnv:
    def reset(self, seed=None):
        raise NotImplementedError

    def step(self, actions):
        raise NotImplementedError

    def async_reset(self, seed=None):
        self.reset(seed)

    def send(self, actions):
        self.step(actions)

    def recv(self):
        pass
