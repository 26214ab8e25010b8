#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains stable-baselines3's five algorithms, each at its own settings, on the walker of MuJoCo:
walker_stable_baselines3.py SEEDS ALGORITHM=STEPS... All it says to gpubound is which training goes on, by a phase for
each; operations are named by gpubound's hooks. Trainings go on in an order drawn by chance.

DQN has discrete actions only: there an action is to push one of the joints one way or the other, so that the simulator
is the same for all.
"""
import random
import sys

import gymnasium
import numpy
import stable_baselines3
import torch

import gpubound


class OneJointAtATime(gymnasium.ActionWrapper):
    def __init__(self, environment):
        super().__init__(environment)
        joints = environment.action_space.shape[0]
        self.pushes = numpy.concatenate((numpy.eye(joints), -numpy.eye(joints))).astype(numpy.float32)
        self.action_space = gymnasium.spaces.Discrete(len(self.pushes))

    def action(self, action):
        return self.pushes[action]


def train(algorithm, steps, seed):
    environment = gymnasium.make("Walker2d-v5")
    if algorithm == "DQN":
        environment = OneJointAtATime(environment)
    buffer = {} if algorithm in ("PPO", "A2C") else {"buffer_size": 100_000}
    model = getattr(stable_baselines3, algorithm)("MlpPolicy", environment, seed=seed, device="cpu", **buffer)
    with gpubound.phase(f"{algorithm} {seed}"):
        model.learn(steps)


def main():
    torch.set_num_threads(1)
    trainings = [(algorithm, int(steps), seed) for word in sys.argv[2:] for algorithm, steps in [word.split("=")]
                 for seed in range(1, int(sys.argv[1]) + 1)]
    random.Random(1).shuffle(trainings)
    for training in trainings:
        train(*training)


if __name__ == "__main__":
    main()
