# SPDX-License-Identifier: Apache-2.0
"""The interface of PufferLib's trainer; see pufferlib.py."""


class PuffeRL:
    def __init__(self, vecenv, learn):
        self.vecenv, self.learn = vecenv, learn
        vecenv.async_reset(0)

    def evaluate(self):
        for _ in range(2):
            self.vecenv.recv()
            self.vecenv.send(None)

    def train(self):
        self.learn()

    def close(self):
        pass
