#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learns to walk a corridor by tabular Q-learning, with every part of the loop named for gpubound.

    gpubound run -- python examples/python/quick_start.py
    python examples/python/quick_start.py                  # the same, and nothing is recorded

Needs nothing but the package gpubound, which `gpubound run` brings along.
"""
import random

import gpubound

CELLS, EPISODES, RATE, DISCOUNT, EXPLORATION = 12, 300, 0.5, 0.95, 0.2


class Corridor:
    """Cells in a row; the reward is at the right end."""

    @gpubound.operation("simulation")
    def reset(self):
        self.cell = 0
        return self.cell

    @gpubound.operation("simulation")
    def step(self, action):
        self.cell = min(max(self.cell + (1 if action else -1), 0), CELLS - 1)
        done = self.cell == CELLS - 1
        return self.cell, float(done), done


def choose(values, cell):
    """The better action, or now and then any."""
    with gpubound.operation("inference"):
        left, right = values[cell]
        if random.random() < EXPLORATION or left == right:
            return random.randrange(2)
        return int(right > left)


def learn(values, cell, action, reward, following):
    """One step of Q-learning."""
    with gpubound.operation("update"):
        target = reward + DISCOUNT * max(values[following])
        values[cell][action] += RATE * (target - values[cell][action])


def main():
    random.seed(1)
    gpubound.metadata({"algorithm": "Q-learning", "cells": CELLS})
    values = [[0.0, 0.0] for _ in range(CELLS)]
    corridor = Corridor()
    gpubound.phase("training")
    for episode in range(EPISODES):
        cell, done, steps = corridor.reset(), False, 0
        while not done:
            action = choose(values, cell)
            following, reward, done = corridor.step(action)
            learn(values, cell, action, reward, following)
            cell, steps = following, steps + 1
        gpubound.step(env_steps=steps)
        gpubound.progress(episode + 1, EPISODES)
    print(f"the last episode took {steps} steps; the shortest way is {CELLS - 1}")


if __name__ == "__main__":
    main()
