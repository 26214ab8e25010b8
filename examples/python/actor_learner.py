#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policy gradients on a pole that must not fall, with actors in processes of their own.

    pip install torch==2.8.0
    gpubound run -- python examples/python/actor_learner.py 20
    gpubound run -- python examples/python/actor_learner.py 20 --asynchronous

Synchronous, the learner sends its weights, waits for the episodes of all actors, and learns. With
--asynchronous actors never wait: they go on with the weights that have arrived, and the learner takes
episodes from whoever has some. Two lines say which process is what (`gpubound.role`); `gpubound report`
then says how long each role holds up the other. At the end the program prints what its own clocks say.
"""
import argparse
import math
import multiprocessing
import multiprocessing.connection
import time

import gpubound
import torch
from torch import nn

ACTORS, EPISODES = 2, 4
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_policy():
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2)).to(DEVICE)


def play(policy, generator):
    """An episode: what was seen, and what was done about it."""
    angle, speed = (torch.rand(2, generator=generator) * 0.1 - 0.05).tolist()
    seen, actions = [], []
    while abs(angle) < 0.5 and len(actions) < 200:
        seen.append((angle, speed))
        with gpubound.operation("inference"), torch.no_grad():
            chances = torch.softmax(policy(torch.tensor(seen[-1:], device=DEVICE)), -1).cpu()
        actions.append(int(torch.multinomial(chances[0], 1, generator=generator)))
        with gpubound.operation("simulation"):
            for _ in range(20):
                speed += (math.sin(angle) * 9.8 + (actions[-1] * 2 - 1) * 8) * 0.001
                angle += speed * 0.001
    return seen, actions


def act(number, asynchronous, learner):
    gpubound.role("rollout")
    torch.set_num_threads(1)
    policy, generator = make_policy(), torch.Generator().manual_seed(number)
    waited = 0.0
    while True:
        if not asynchronous or learner.poll():
            begin = time.perf_counter()
            weights = learner.recv()
            waited += time.perf_counter() - begin
            if weights is None:
                break
            with gpubound.operation("weight_sync"):
                policy.load_state_dict(weights)
        learner.send([play(policy, generator) for _ in range(EPISODES)])
    learner.send(waited)


def learn(policy, optimizer, episodes):
    losses = []
    for seen, actions in episodes:
        chances = torch.log_softmax(policy(torch.tensor(seen, device=DEVICE)), -1)
        taken = chances[torch.arange(len(actions)), torch.tensor(actions)]
        returns = torch.arange(len(actions), 0, -1, device=DEVICE, dtype=torch.float32)
        losses.append(-(taken * (returns - returns.mean())).mean())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()


def train(actors, asynchronous, iterations):
    """How long the learner waited."""
    torch.set_num_threads(1)
    policy = make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    waited = 0.0
    ready = actors
    for iteration in range(iterations):
        with gpubound.operation("weight_sync"):
            weights = {name: value.cpu() for name, value in policy.state_dict().items()}
            for actor in ready:
                actor.send(weights)
        begin = time.perf_counter()
        ready = multiprocessing.connection.wait(actors) if asynchronous else actors
        episodes = [episode for actor in ready for episode in actor.recv()]
        waited += time.perf_counter() - begin
        with gpubound.operation("update"):
            learn(policy, optimizer, episodes)
        gpubound.step()
        print(f"iteration {iteration}: {len(episodes)} episodes of "
              f"{sum(len(actions) for _, actions in episodes) / len(episodes):.0f} steps", flush=True)
    return waited


def last_of(actor):
    """What an actor sends when it ends, after episodes that nobody has taken."""
    while True:
        received = actor.recv()
        if isinstance(received, float):
            return received


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iterations", type=int)
    parser.add_argument("--asynchronous", action="store_true")
    options = parser.parse_args()
    gpubound.role("train")
    context = multiprocessing.get_context("spawn")
    actors, processes = [], []
    for number in range(ACTORS):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=act, args=(number, options.asynchronous, theirs)))
        processes[-1].start()
        actors.append(ours)
    begin = time.perf_counter()
    waited = train(actors, options.asynchronous, options.iterations)
    took = time.perf_counter() - begin
    for actor in actors:
        actor.send(None)
    of_actors = [last_of(actor) for actor in actors]
    for process in processes:
        process.join()
    print(f"{took:.3f} s, of which the learner waited {waited:.3f} s and actors "
          + ", ".join(f"{seconds:.3f} s" for seconds in of_actors))


if __name__ == "__main__":
    main()
