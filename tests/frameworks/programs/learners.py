# SPDX-License-Identifier: Apache-2.0
"""Learners that step no environment, or hardly ever, and print a digest of their weights:
    learners.py offline UPDATES EVERY   clones a rule from stored data, evaluated after every EVERY updates
    learners.py actors UPDATES WORKERS  learns from what WORKERS other processes play
Knows nothing of gpubound."""
import hashlib
import multiprocessing
import sys
import time

import gymnasium
import numpy
import torch
from torch import nn


class Learner:
    def __init__(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        self.policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)

    def update(self, observations):
        wanted = (observations[:, 2] + observations[:, 3] > 0).long()
        loss = nn.functional.cross_entropy(self.policy(observations), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def digest(self):
        weights = b"".join(value.numpy().tobytes() for value in self.policy.state_dict().values())
        return hashlib.sha256(weights).hexdigest()


def evaluate(policy, environment):
    observation, _ = environment.reset(seed=1)
    for _ in range(100):
        with torch.no_grad():
            action = int(policy(torch.as_tensor(observation)).argmax())
        observation, _, terminated, truncated, _ = environment.step(action)
        if terminated or truncated:
            break


def learn_offline(updates, every):
    learner, environment = Learner(), gymnasium.make("CartPole-v1")
    stored = torch.as_tensor(numpy.random.default_rng(1).normal(size=(4096, 4)).astype(numpy.float32))
    for update in range(1, updates + 1):
        learner.update(stored[(update * 64) % 4032:][:64])
        if update % every == 0:
            evaluate(learner.policy, environment)
    return learner


def play(seed, updates, sender):
    environment, actions = gymnasium.make("CartPole-v1"), numpy.random.default_rng(seed)
    environment.reset(seed=seed)
    for _ in range(updates):
        observations = []
        for _ in range(64):
            observation, _, terminated, truncated, _ = environment.step(int(actions.integers(2)))
            observations.append(observation)
            if terminated or truncated:
                environment.reset()
        sender.send(numpy.stack(observations))


def learn_from_actors(updates, workers):
    ends = [multiprocessing.Pipe(duplex=False) for _ in range(workers)]
    actors = [multiprocessing.Process(target=play, args=(seed, updates, end[1]))
              for seed, end in enumerate(ends)]
    for actor in actors:
        actor.start()
    learner = Learner()
    for _ in range(updates):
        learner.update(torch.as_tensor(numpy.concatenate([end[0].recv() for end in ends])))
    for actor in actors:
        actor.join()
    return learner


def main():
    kind, updates, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    begin = time.process_time()
    learner = {"offline": learn_offline, "actors": learn_from_actors}[kind](updates, number)
    seconds = time.process_time() - begin
    print(learner.digest())
    print(f"{seconds:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
