# SPDX-License-Identifier: Apache-2.0
"""An actor-learner: two processes ask the policy and step environments, and never learn; the first learns from what they
put into a queue, and steps no environment."""
import sys

import gymnasium
import torch
from torch import multiprocessing, nn

LENGTH = 64


def network():
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))


def act(number, shared, queue, enough):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    env = gymnasium.make("CartPole-v1")
    observation, _ = env.reset(seed=number)
    policy = network()
    while not enough.is_set():
        policy.load_state_dict(shared.state_dict())
        trajectory = []
        for _ in range(LENGTH):
            seen = torch.as_tensor(observation)
            with torch.no_grad():
                chances = torch.distributions.Categorical(logits=policy(seen)[:2])
                action = chances.sample()
                log_prob = chances.log_prob(action)
            observation, reward, terminated, truncated, _ = env.step(action.item())
            trajectory.append((seen, action, log_prob, torch.tensor(reward)))
            if terminated or truncated:
                observation, _ = env.reset()
        queue.put(tuple(torch.stack(column) for column in zip(*trajectory)))
    queue.cancel_join_thread()


def learn(updates, shared, queue):
    optimizer = torch.optim.RMSprop(shared.parameters(), lr=1e-3)
    for _ in range(updates):
        batch = [queue.get() for _ in range(4)]
        seen, taken, old_log_prob, rewards = (torch.stack(column, 1) for column in zip(*batch))
        output = shared(seen)
        chances = torch.distributions.Categorical(logits=output[..., :2])
        log_prob = chances.log_prob(taken)
        weight = (log_prob - old_log_prob).exp().clamp(max=1).detach()
        returns = rewards.flip(0).cumsum(0).flip(0) / 50
        advantage = (returns - output[..., 2]).detach()
        loss = (output[..., 2] - returns).pow(2).mean() - (weight * advantage * log_prob).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{updates} updates")


def main(updates):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shared = network().share_memory()
    queue, enough = multiprocessing.Queue(8), multiprocessing.Event()
    actors = [multiprocessing.Process(target=act, args=(number, shared, queue, enough)) for number in range(2)]
    for actor in actors:
        actor.start()
    learn(updates, shared, queue)
    enough.set()
    while any(actor.is_alive() for actor in actors):
        try:
            queue.get(timeout=0.1)
        except Exception:  # empty, or what an actor was about to put
            pass
    for actor in actors:
        actor.join()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main(int(sys.argv[1]))
