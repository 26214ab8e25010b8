# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning in the order in which PyTorch's tutorial teaches it: one gradient step for each environment step,
states are tensors with a batch dimension, the estimate is computed before the target, whose network follows softly."""
import collections
import itertools
import math
import random
import sys

import gymnasium
import torch
from torch import nn

Step = collections.namedtuple("Step", ("state", "action", "successor", "reward"))


class QNetwork(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.first = nn.Linear(inputs, 128)
        self.second = nn.Linear(128, 128)
        self.last = nn.Linear(128, actions)

    def forward(self, state):
        state = nn.functional.relu(self.first(state))
        state = nn.functional.relu(self.second(state))
        return self.last(state)


class Learner:
    def __init__(self, env):
        self.env = env
        self.online, self.target = QNetwork(4, 2), QNetwork(4, 2)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.AdamW(self.online.parameters(), lr=1e-4, amsgrad=True)
        self.memory = collections.deque(maxlen=10000)
        self.steps = 0

    def action(self, state):
        threshold = 0.05 + 0.85 * math.exp(-self.steps / 1000)
        self.steps += 1
        if random.random() < threshold:
            return torch.tensor([[self.env.action_space.sample()]], dtype=torch.long)
        with torch.no_grad():
            best = self.online(state).max(1).indices.view(1, 1)
        return best

    def learn(self):
        if len(self.memory) < 128:
            return
        batch = Step(*zip(*random.sample(self.memory, 128)))
        goes_on = torch.tensor([state is not None for state in batch.successor], dtype=torch.bool)
        successors = torch.cat([state for state in batch.successor if state is not None])
        states = torch.cat(batch.state)
        actions = torch.cat(batch.action)
        rewards = torch.cat(batch.reward)
        estimated = self.online(states).gather(1, actions)
        following = torch.zeros(128)
        with torch.no_grad():
            following[goes_on] = self.target(successors).max(1).values
        wanted = following * 0.99 + rewards
        loss = nn.functional.smooth_l1_loss(estimated, wanted.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.online.parameters(), 100)
        self.optimizer.step()

    def follow(self):
        online, target = self.online.state_dict(), self.target.state_dict()
        for name in online:
            target[name] = online[name] * 0.005 + target[name] * 0.995
        self.target.load_state_dict(target)


def main(episodes):
    random.seed(0)
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    learner = Learner(env)
    for episode in range(episodes):
        observation, _ = env.reset(seed=episode)
        state = torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
        for _ in itertools.count():
            action = learner.action(state)
            number = action.item()
            observation, reward, terminated, truncated, _ = env.step(number)
            reward = torch.tensor([reward], dtype=torch.float32)
            successor = None if terminated else torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
            learner.memory.append(Step(state, action, successor, reward))
            state = successor
            learner.learn()
            learner.follow()
            if terminated or truncated:
                break
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
