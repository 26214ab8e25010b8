# SPDX-License-Identifier: Apache-2.0
"""REINFORCE with the graph of the rollout: the policy's results are kept with their gradients, and backward() of them
follows at the end of the episode. There is no forward pass in the update."""
import sys

import gymnasium
import torch
from torch import nn


def main(episodes):
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for episode in range(episodes):
        observation, _ = env.reset(seed=episode)
        log_probs, rewards = [], []
        for _ in range(100):
            chances = torch.distributions.Categorical(logits=policy(torch.as_tensor(observation)))
            action = chances.sample()
            log_probs.append(chances.log_prob(action))
            observation, reward, terminated, truncated, _ = env.step(action.item())
            rewards.append(reward)
            if terminated or truncated:
                break
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        loss = -(torch.stack(log_probs) * (returns - returns.mean())).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
