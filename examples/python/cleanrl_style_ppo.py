#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PPO on CartPole in one file, in the manner of CleanRL: vectorised environments, one agent module, the
loop written out. Nothing here knows of gpubound.

    pip install torch==2.8.0 gymnasium==1.2.0
    gpubound run -- python examples/python/cleanrl_style_ppo.py 20

The report has rollout and update, and in them simulation, inference, backpropagation and optimizer.
"""
import hashlib
import sys
import time

import gymnasium
import numpy
import torch
from torch import nn

ENVIRONMENTS, HORIZON, EPOCHS, MINIBATCHES = 4, 128, 4, 4
GAMMA, LAMBDA, CLIP, VALUE_WEIGHT, ENTROPY_WEIGHT, RATE = 0.99, 0.95, 0.2, 0.5, 0.01, 2.5e-4


class Agent(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, actions))

    def forward(self, observation, action=None):
        policy = torch.distributions.Categorical(logits=self.actor(observation))
        action = policy.sample() if action is None else action
        return action, policy.log_prob(action), policy.entropy(), self.critic(observation).flatten()


def advantages_of(rewards, values, ended, last_value, last_ended):
    result = torch.zeros_like(rewards)
    running = torch.zeros(ENVIRONMENTS)
    for t in reversed(range(HORIZON)):
        following = last_value if t == HORIZON - 1 else values[t + 1]
        alive = 1.0 - (last_ended if t == HORIZON - 1 else ended[t + 1])
        error = rewards[t] + GAMMA * following * alive - values[t]
        running = error + GAMMA * LAMBDA * alive * running
        result[t] = running
    return result


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.set_num_threads(1)
    torch.manual_seed(1)
    numpy.random.seed(1)
    environments = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1") for _ in range(ENVIRONMENTS)])
    agent = Agent(4, 2)
    optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    shape = (HORIZON, ENVIRONMENTS)
    observations = torch.zeros(shape + (4,))
    actions, log_probabilities, rewards, ended, values = (torch.zeros(shape) for _ in range(5))
    observation, _ = environments.reset(seed=1)
    observation, done = torch.Tensor(observation), torch.zeros(ENVIRONMENTS)
    begin = time.process_time()
    for _ in range(updates):
        for t in range(HORIZON):
            observations[t], ended[t] = observation, done
            with torch.no_grad():
                action, log_probabilities[t], _, values[t] = agent(observation)
            actions[t] = action
            new, reward, terminated, truncated, _ = environments.step(action.numpy())
            rewards[t] = torch.tensor(reward)
            observation = torch.Tensor(new)
            done = torch.Tensor(numpy.logical_or(terminated, truncated))
        with torch.no_grad():
            last_value = agent(observation)[3]
        advantage = advantages_of(rewards, values, ended, last_value, done)
        batch = [part.reshape((-1,) + part.shape[2:]) for part in
                 (observations, actions, log_probabilities, advantage, advantage + values)]
        size = HORIZON * ENVIRONMENTS
        for _ in range(EPOCHS):
            for chosen in torch.randperm(size).split(size // MINIBATCHES):
                seen, taken, old, gain, target = (part[chosen] for part in batch)
                _, new_log, entropy, value = agent(seen, taken)
                ratio = (new_log - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                policy_loss = torch.max(-gain * ratio,
                                        -gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                loss = (policy_loss + VALUE_WEIGHT * 0.5 * (value - target).pow(2).mean() -
                        ENTROPY_WEIGHT * entropy.mean())
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    print(f"{time.process_time() - begin:.3f} s", file=sys.stderr)
    digest = hashlib.sha256()
    for value in agent.state_dict().values():
        digest.update(value.numpy().tobytes())
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
