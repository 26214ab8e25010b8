# SPDX-License-Identifier: Apache-2.0
"""Soft actor-critic as single-file scripts write it: one gradient step for each environment step, the actor asked
for actions with gradients on, and again in the update, both without gradients (targets) and with them (its own loss)."""
import sys

import gymnasium
import numpy as np
import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.mean = nn.Linear(128, 1)
        self.log_std = nn.Linear(128, 1)

    def forward(self, observation):
        hidden = self.body(observation)
        return self.mean(hidden), self.log_std(hidden).clamp(-5, 2)

    def act(self, observation):
        mean, log_std = self(observation)
        normal = torch.distributions.Normal(mean, log_std.exp())
        raw = normal.rsample()
        action = raw.tanh()
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return 2 * action, log_prob.sum(1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, observation, action):
        return self.body(torch.cat([observation, action], 1)).squeeze(1)


class Replay:
    def __init__(self):
        self.rows = []

    def add(self, *row):
        self.rows.append(row)

    def sample(self, size):
        chosen = [self.rows[i] for i in np.random.randint(0, len(self.rows), size)]
        return [torch.as_tensor(np.stack(column), dtype=torch.float32) for column in zip(*chosen)]


def main(steps):
    np.random.seed(0)
    torch.manual_seed(0)
    env = gymnasium.make("Pendulum-v1")
    actor = Actor()
    first, second, first_target, second_target = Critic(), Critic(), Critic(), Critic()
    first_target.load_state_dict(first.state_dict())
    second_target.load_state_dict(second.state_dict())
    critic_optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
    log_alpha = torch.zeros(1, requires_grad=True)
    alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
    replay = Replay()
    observation, _ = env.reset(seed=0)
    for step in range(steps):
        if step < 100:
            action = env.action_space.sample()
        else:
            action, _ = actor.act(torch.as_tensor(observation).unsqueeze(0))
            action = action.detach().cpu().numpy()[0]
        successor, reward, terminated, truncated, _ = env.step(action)
        replay.add(observation, action, reward, successor, float(terminated))
        observation = successor
        if terminated or truncated:
            observation, _ = env.reset()
        if step < 100:
            continue
        seen, taken, rewards, successors, ends = replay.sample(128)
        with torch.no_grad():
            next_action, next_log_prob = actor.act(successors)
            least = torch.min(first_target(successors, next_action), second_target(successors, next_action))
            wanted = rewards + 0.99 * (1 - ends) * (least - log_alpha.exp() * next_log_prob)
        critic_loss = (first(seen, taken) - wanted).pow(2).mean() + (second(seen, taken) - wanted).pow(2).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        if step % 2 == 0:
            chosen, log_prob = actor.act(seen)
            value = torch.min(first(seen, chosen), second(seen, chosen))
            actor_loss = (log_alpha.exp().detach() * log_prob - value).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
            alpha_loss = -(log_alpha.exp() * (log_prob.detach() - 1)).mean()
            alpha_optimizer.zero_grad()
            alpha_loss.backward()
            alpha_optimizer.step()
        with torch.no_grad():
            for online, target in ((first, first_target), (second, second_target)):
                for own, other in zip(online.parameters(), target.parameters()):
                    other.lerp_(own, 0.005)
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
