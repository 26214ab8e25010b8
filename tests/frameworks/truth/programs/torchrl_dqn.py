# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning with TorchRL's collector, buffer and loss, which asks online and target network in one module."""
import sys

import torch
from tensordict.nn import TensorDictSequential
from torch import nn
from torchrl.collectors import SyncDataCollector
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.envs import GymEnv
from torchrl.modules import EGreedyModule, QValueActor
from torchrl.objectives import DQNLoss, SoftUpdate


def main():
    torch.manual_seed(0)
    env = GymEnv("CartPole-v1")
    env.set_seed(0)
    network = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    actor = QValueActor(network, spec=env.action_spec, in_keys=["observation"])
    policy = TensorDictSequential(actor, EGreedyModule(env.action_spec, annealing_num_steps=1000, eps_init=0.2))
    collector = SyncDataCollector(env, policy, frames_per_batch=20, total_frames=int(sys.argv[1]), init_random_frames=100)
    buffer = ReplayBuffer(storage=LazyTensorStorage(4000), batch_size=64)
    objective = DQNLoss(actor, action_space=env.action_spec, delay_value=True)
    objective.make_value_estimator(gamma=0.99)
    optimizer = torch.optim.Adam(objective.parameters(), lr=1e-3)
    updater = SoftUpdate(objective, eps=0.99)
    frames = iter(collector)
    while True:
        batch = next(frames, None)
        if batch is None:
            break
        buffer.extend(batch.reshape(-1))
        for _ in range(5):
            sample = buffer.sample()
            losses = objective(sample)
            losses["loss"].backward()
            optimizer.step()
            optimizer.zero_grad()
            updater.step()
    collector.shutdown()


if __name__ == "__main__":
    main()
