#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policy gradients on CartPole with rollouts in Ray actors.

    pip install ray==2.49.2 torch==2.8.0 gymnasium==1.2.0
    gpubound run -- python examples/python/ray_rollouts.py 5
    gpubound run -- python examples/python/ray_rollouts.py 5 --asynchronous

Each actor is a process of the run, and each of its methods an operation, without an edit. What the
driver waits for only the program knows: it names that, and its iterations, in three lines; two more say
which process is what (`gpubound.role`), so that `gpubound report` says how long each role holds up the
other. Synchronous, the driver waits for the episodes of all actors. With --asynchronous it learns from
whoever is done, while the others play on with older weights. On a cluster that was started before, actors
are recorded with the runtime environment that is asked for here; where Ray is started by the program they
inherit it anyway. At the end the program says on stderr what its own clocks say of all iterations but the
first.
"""
import argparse
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
        gpubound.role("rollout")
        torch.set_num_threads(1)
        self.worked = []
        self.seed, self.policy = seed, make_policy()
        self.environment = gymnasium.make("CartPole-v1")
        self.generator = torch.Generator().manual_seed(seed)

    def play(self, weights):
        begin = time.perf_counter()
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
        self.worked.append(time.perf_counter() - begin)
        return episodes

    def seconds(self):
        """How long each time has played."""
        return self.worked


def learn(policy, optimizer, episodes):
    losses = []
    for seen, actions in episodes:
        returns = torch.arange(len(actions), 0, -1, dtype=torch.float32)
        chosen = torch.log_softmax(policy(seen), -1)[torch.arange(len(actions)), actions]
        losses.append(-(chosen * (returns - returns.mean()) / (returns.std() + 1e-6)).sum())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()


def train(policy, optimizer, actors, updates, asynchronous):
    """How long the iterations but the first took, and how long of that the driver waited for actors."""
    clocks = []
    playing = {}
    for _ in range(updates):
        begin = time.perf_counter()
        with gpubound.operation("rollout"):
            weights = ray.put(policy.state_dict())
            idle = [actor for actor in actors if actor not in playing.values()]
            playing.update({actor.play.remote(weights): actor for actor in idle})
            done = ray.wait(list(playing))[0] if asynchronous else list(playing)
            for reference in done:
                del playing[reference]
            played = ray.get(done)
        waited = time.perf_counter() - begin
        with gpubound.operation("update"):
            learn(policy, optimizer, [episode for part in played for episode in part])
        gpubound.step()
        clocks.append((time.perf_counter() - begin, waited))
    return [sum(seconds) for seconds in zip(*clocks[1:])] if updates > 1 else [0.0, 0.0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("updates", type=int, nargs="?", default=5)
    parser.add_argument("--asynchronous", action="store_true")
    options = parser.parse_args()
    gpubound.role("train")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             runtime_env=gpubound.ray_runtime_env())
    policy = make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    actors = [Actor.remote(seed) for seed in range(ACTORS)]
    took, waited = train(policy, optimizer, actors, options.updates, options.asynchronous)
    worked = ray.get([actor.seconds.remote() for actor in actors])
    print(f"{took:.3f} s, of which the driver waited {waited:.3f} s; actors worked "
          + ", ".join(f"{sum(seconds[1:]):.3f} s" for seconds in worked), file=sys.stderr)
    ray.shutdown()
    digest = hashlib.sha256(b"".join(value.numpy().tobytes()
                                     for value in policy.state_dict().values()))
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
