# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning as single-file scripts write it: epsilon-greedy actions, of which some ask no network, a policy that
is asked with gradients on, a gradient step for each four environment steps, an evaluation now and then."""
import random
import sys

import gymnasium
import numpy as np
import torch
from torch import nn


class Replay:
    def __init__(self, capacity, width):
        self.observations = np.zeros((capacity, width), np.float32)
        self.successors = np.zeros((capacity, width), np.float32)
        self.actions = np.zeros(capacity, np.int64)
        self.rewards = np.zeros(capacity, np.float32)
        self.ends = np.zeros(capacity, np.float32)
        self.count = 0

    def add(self, *transition):
        place = self.count % len(self.actions)
        for column, value in zip((self.observations, self.actions, self.rewards, self.successors, self.ends), transition):
            column[place] = value
        self.count += 1

    def sample(self, size):
        rows = np.random.randint(0, min(self.count, len(self.actions)), size)
        return [torch.as_tensor(column[rows]) for column in
                (self.observations, self.actions, self.rewards, self.successors, self.ends)]


def network():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


def evaluate(policy, env):
    observation, _ = env.reset(seed=7)
    for _ in range(50):
        with torch.no_grad():
            action = int(policy(torch.as_tensor(observation)).argmax())
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()


def main(steps):
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env, other_env = gymnasium.make("CartPole-v1"), gymnasium.make("CartPole-v1")
    online, target = network(), network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = Replay(10000, 4)
    observation, _ = env.reset(seed=0)
    for step in range(steps):
        if random.random() < 0.2:
            action = random.randrange(2)
        else:
            values = online(torch.as_tensor(observation).unsqueeze(0))
            action = values.argmax(dim=1).cpu().item()
        successor, reward, terminated, truncated, _ = env.step(action)
        replay.add(observation, action, reward, successor, terminated)
        observation = successor
        if terminated or truncated:
            observation, _ = env.reset()
        if step >= 500 and step % 4 == 0:
            batch = replay.sample(128)
            with torch.no_grad():
                best = target(batch[3]).max(dim=1).values
                wanted = batch[2] + 0.99 * best * (1 - batch[4])
            estimated = online(batch[0]).gather(1, batch[1].unsqueeze(1)).squeeze(1)
            loss = nn.functional.mse_loss(estimated, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 500 == 0:
                target.load_state_dict(online.state_dict())
        if step % 2000 == 1999:
            evaluate(online, other_env)
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
