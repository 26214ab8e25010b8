# SPDX-License-Identifier: Apache-2.0
"""TD3 as single-file scripts write it: actions without gradients, two targets, and an actor that learns at every
second gradient step of the critics."""
import sys

import gymnasium
import numpy as np
import torch
from torch import nn


def layers(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))


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
    actor, actor_target = layers(3, 1), layers(3, 1)
    critic, critic_target = layers(4, 2), layers(4, 2)
    actor_target.load_state_dict(actor.state_dict())
    critic_target.load_state_dict(critic.state_dict())
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    replay = Replay()
    observation, _ = env.reset(seed=0)
    for step in range(steps):
        if step < 100:
            action = env.action_space.sample()
        else:
            with torch.no_grad():
                action = actor(torch.as_tensor(observation))
                action = action + 0.1 * torch.randn(1)
                action = action.clamp(-2, 2).cpu().numpy()
        successor, reward, terminated, truncated, _ = env.step(action)
        replay.add(observation, action, reward, successor, float(terminated))
        observation = successor
        if terminated or truncated:
            observation, _ = env.reset()
        if step < 100:
            continue
        seen, taken, rewards, successors, ends = replay.sample(128)
        with torch.no_grad():
            noise = (0.2 * torch.randn_like(taken)).clamp(-0.5, 0.5)
            next_action = (actor_target(successors) + noise).clamp(-2, 2)
            least = critic_target(torch.cat([successors, next_action], 1)).min(dim=1).values
            wanted = (rewards + 0.99 * (1 - ends) * least).unsqueeze(1)
        critic_loss = (critic(torch.cat([seen, taken], 1)) - wanted).pow(2).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        if step % 2 == 0:
            actor_loss = -critic(torch.cat([seen, actor(seen)], 1))[:, 0].mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
            with torch.no_grad():
                for online, target in ((actor, actor_target), (critic, critic_target)):
                    for own, other in zip(online.parameters(), target.parameters()):
                        other.lerp_(own, 0.005)
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
