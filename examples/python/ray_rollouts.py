#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policy gradients on CartPole with rollouts in Ray actors.

    pip install ray==2.49.2 torch==2.8.0 gymnasium==1.2.0
    gpubound run -- python examples/python/ray_rollouts.py 5

Each actor is a process of the run, and each of its methods an operation, without an edit. What the
driver waits for only the program knows: it names that, and its iterations, in three lines. On a cluster
that was started before, actors are recorded with the runtime environment that is asked for here; where
Ray is started by the program they inherit it anyway.
"""
import hashlib
import sys
import time

import gpubound
import gymnasium
import ray
import torch
from torch import nn

ACTORS, EPISODES = 2, 4


def make_policy():
    return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))


@ray.remote(num_cpus=0.5)
class Actor:
    """Plays episodes with the weights that it is sent."""

    def __init__(self, seed):
        torch.set_num_threads(1)
        self.seed, self.policy = seed, make_policy()
        self.environment = gymnasium.make("CartPole-v1")
        self.generator = torch.Generator().manual_seed(seed)

    def play(self, weights):
        self.policy.load_state_dict(weights)
        episodes = []
        for _ in range(EPISODES):
            self.seed += 1000
            observation, _ = self.environment.reset(seed=self.seed)
            seen, actions, done = [], [], False
            while not done:
                seen.append(torch.as_tensor(observation))
                with torch.no_grad():
                    chances = torch.softmax(self.policy(seen[-1]), -1)
                actions.append(int(torch.multinomial(chances, 1, generator=self.generator)))
                observation, _, terminated, truncated, _ = self.environment.step(actions[-1])
                done = terminated or truncated
            episodes.append((torch.stack(seen), torch.tensor(actions)))
        return episodes


def learn(policy, optimizer, episodes):
    losses = []
    for seen, actions in episodes:
        returns = torch.arange(len(actions), 0, -1, dtype=torch.float32)
        chosen = torch.log_softmax(policy(seen), -1)[torch.arange(len(actions)), actions]
        losses.append(-(chosen * (returns - returns.mean()) / (returns.std() + 1e-6)).sum())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    torch.manual_seed(1)
    torch.set_num_threads(1)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             runtime_env=gpubound.ray_runtime_env())
    policy = make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    actors = [Actor.remote(seed) for seed in range(ACTORS)]
    begin = time.process_time()
    for _ in range(updates):
        with gpubound.operation("rollout"):
            weights = ray.put(policy.state_dict())
            played = ray.get([actor.play.remote(weights) for actor in actors])
        with gpubound.operation("update"):
            learn(policy, optimizer, [episode for part in played for episode in part])
        gpubound.step()
    print(f"{time.process_time() - begin:.3f} s", file=sys.stderr)
    ray.shutdown()
    digest = hashlib.sha256(b"".join(value.numpy().tobytes()
                                     for value in policy.state_dict().values()))
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
