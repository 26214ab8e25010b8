# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimization as single-file scripts write it: a vector environment, one method that gives action,
log-prob, entropy and value (without gradients in the rollout, with them for each minibatch), and a value asked for
once more after the last environment step."""
import sys

import gymnasium
import numpy as np
import torch
from torch import nn

ENVS, STEPS = 4, 64


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def value(self, observation):
        return self.critic(observation).squeeze(-1)

    def act(self, observation, action=None):
        chances = torch.distributions.Categorical(logits=self.actor(observation))
        if action is None:
            action = chances.sample()
        return action, chances.log_prob(action), chances.entropy(), self.value(observation)


def main(iterations):
    np.random.seed(0)
    torch.manual_seed(0)
    envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1") for _ in range(ENVS)])
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4)
    observations = torch.zeros(STEPS, ENVS, 4)
    actions, log_probs, rewards, ends, values = (torch.zeros(STEPS, ENVS) for _ in range(5))
    observation = torch.as_tensor(envs.reset(seed=0)[0])
    end = torch.zeros(ENVS)
    for _ in range(iterations):
        for step in range(STEPS):
            observations[step], ends[step] = observation, end
            with torch.no_grad():
                action, log_prob, _, value = agent.act(observation)
            actions[step], log_probs[step], values[step] = action, log_prob, value
            moves = action.cpu().numpy()
            observation, reward, terminated, truncated, _ = envs.step(moves)
            rewards[step] = torch.as_tensor(reward)
            observation = torch.as_tensor(observation)
            end = torch.as_tensor(np.logical_or(terminated, truncated), dtype=torch.float32)
        with torch.no_grad():
            next_value = agent.value(observation)
            advantages = torch.zeros_like(rewards)
            last = torch.zeros(ENVS)
            for step in reversed(range(STEPS)):
                goes_on = 1 - (end if step == STEPS - 1 else ends[step + 1])
                after = next_value if step == STEPS - 1 else values[step + 1]
                last = rewards[step] + 0.99 * after * goes_on - values[step] + 0.9405 * goes_on * last
                advantages[step] = last
            returns = (advantages + values).flatten()
        flat = [part.flatten(0, 1) for part in (observations, actions, log_probs, advantages)]
        for _ in range(4):
            order = torch.randperm(STEPS * ENVS)
            for rows in order.split(64):
                seen, taken, old_log_prob, advantage = (part[rows] for part in flat)
                _, log_prob, entropy, value = agent.act(seen, taken)
                ratio = (log_prob - old_log_prob).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gain = torch.min(advantage * ratio, advantage * ratio.clamp(0.8, 1.2)).mean()
                loss = 0.5 * (value - returns[rows]).pow(2).mean() - gain - 0.01 * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    envs.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
