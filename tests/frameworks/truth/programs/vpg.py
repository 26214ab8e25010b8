# SPDX-License-Identifier: Apache-2.0
"""The simplest policy gradient in the manner of teaching code: epochs of whole episodes, an action for each
observation by a distribution of its own, then one loss over the batch, whose weights are rewards to go."""
import sys

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical


def main(epochs, size):
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    logits_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2), nn.Identity())
    optimizer = torch.optim.Adam(logits_net.parameters(), lr=1e-2)

    def get_policy(obs):
        return Categorical(logits=logits_net(obs))

    def get_action(obs):
        return get_policy(obs).sample().item()

    def compute_loss(obs, act, weights):
        return -(get_policy(obs).log_prob(act) * weights).mean()

    def train_one_epoch(epoch):
        seen, acted, weights, returns = [], [], [], []
        obs, _ = env.reset(seed=epoch)
        rewards = []
        while True:
            seen.append(obs.copy())
            act = get_action(torch.as_tensor(obs, dtype=torch.float32))
            obs, reward, terminated, truncated, _ = env.step(act)
            acted.append(act)
            rewards.append(reward)
            if terminated or truncated:
                returns.append(sum(rewards))
                weights += list(np.cumsum(rewards[::-1])[::-1])
                obs, _ = env.reset()
                rewards = []
                if len(seen) > size:
                    break
        optimizer.zero_grad()
        loss = compute_loss(torch.as_tensor(np.array(seen), dtype=torch.float32), torch.as_tensor(acted),
                            torch.as_tensor(np.array(weights), dtype=torch.float32))
        loss.backward()
        optimizer.step()
        return loss.item(), np.mean(returns)

    for epoch in range(epochs):
        loss, mean = train_one_epoch(epoch)
        print(f"epoch {epoch:3d}  loss {loss:8.3f}  return {mean:8.3f}")
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), 2000)
