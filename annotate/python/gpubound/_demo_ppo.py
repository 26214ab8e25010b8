# SPDX-License-Identifier: Apache-2.0
"""PPO on CartPole with PyTorch, as `gpubound demo` trains it on a GPU: -m gpubound._demo_ppo DEVICE UPDATES. The
environment is Python's, the network the device's, as in most programs that are slow."""
import math
import random
import sys
from typing import Any, List, Tuple

import torch

import gpubound

ENVIRONMENTS, HORIZON, EPOCHS, BATCH = 16, 64, 4, 256
DISCOUNT, TRACE, CLIP = 0.99, 0.95, 0.2


class CartPole:
    def __init__(self):
        self.state = self.reset()

    def reset(self):
        self.count = 0
        return [random.uniform(-0.05, 0.05) for _ in range(4)]

    def step(self, action):
        position, speed, angle, turning = self.state
        push = (10.0 if action else -10.0) + 0.05 * turning * turning * math.sin(angle)
        torque = (9.8 * math.sin(angle) - math.cos(angle) * push / 1.1) / (
            0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        self.state = [position + 0.02 * speed,
                      speed + 0.02 * (push / 1.1 - 0.05 * torque * math.cos(angle) / 1.1),
                      angle + 0.02 * turning, turning + 0.02 * torque]
        self.count += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.count == 500
        if done:
            self.state = self.reset()
        return done


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 128), torch.nn.Tanh(), torch.nn.Linear(128, 128),
                                        torch.nn.Tanh())
        self.action, self.value = torch.nn.Linear(128, 2), torch.nn.Linear(128, 1)

    def forward(self, states):
        hidden = self.body(states)
        return torch.distributions.Categorical(logits=self.action(hidden)), self.value(hidden).squeeze(-1)


def roll_out(policy, environments, device):
    columns: Tuple[List[Any], ...] = ([], [], [], [])
    ends = []
    for _ in range(HORIZON):
        with gpubound.operation("inference"), torch.no_grad():
            now = torch.tensor([environment.state for environment in environments], device=device)
            choice, value = policy(now)
            action = choice.sample()
            for column, found in zip(columns, (now, action, choice.log_prob(action), value)):
                column.append(found)
            chosen = action.tolist()
        with gpubound.operation("simulation"):
            ends.append([environment.step(action) for environment, action in zip(environments, chosen)])
    return [torch.stack(column) for column in columns] + [
        torch.tensor(ends, dtype=torch.float32, device=device)]


def improve(policy, optimizer, rollout):
    states, actions, chances, values, ends = rollout
    with gpubound.operation("advantage"):
        advantages, carried = torch.zeros_like(values), torch.zeros_like(values[0])
        for t in reversed(range(HORIZON)):
            goes_on, following = 1 - ends[t], values[t + 1] if t + 1 < HORIZON else values[t]
            carried = 1.0 + DISCOUNT * goes_on * (following + TRACE * carried) - values[t]
            advantages[t] = carried
        returns = (advantages + values).flatten()
        advantages = ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).flatten()
    flat = states.flatten(0, 1), actions.flatten(), chances.flatten()
    for _ in range(EPOCHS):
        for some in torch.randperm(len(returns), device=returns.device).split(BATCH):
            with gpubound.operation("backpropagation"):
                choice, value = policy(flat[0][some])
                ratio = (choice.log_prob(flat[1][some]) - flat[2][some]).exp()
                gain = torch.min(ratio * advantages[some], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[some])
                loss = 0.5 * (value - returns[some]).pow(2).mean() - gain.mean() - 0.01 * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def main(device, updates):
    gpubound.metadata({"algorithm": "PPO", "environment": "CartPole"})
    policy = Policy().to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    environments = [CartPole() for _ in range(ENVIRONMENTS)]
    for update in range(updates):
        rollout = roll_out(policy, environments, device)
        improve(policy, optimizer, rollout)
        gpubound.step(env_steps=ENVIRONMENTS * HORIZON)
        gpubound.progress(update + 1, updates)
    ends = rollout[-1].sum().item()
    print(f"CartPole: {ENVIRONMENTS * HORIZON / max(ends, 1):.0f} steps an episode after {updates} updates")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
