# SPDX-License-Identifier: Apache-2.0
"""Trains rsl_rl's PPO on eight pendulums of gymnasium: rsl_rl_training.py ITERATIONS. What it times, it prints."""
import sys
import tempfile

import gymnasium
import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

NUMBER = 8
NETWORK = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "elu"}


class Pendulums(VecEnv):
    num_envs = NUMBER
    num_actions = 1
    max_episode_length = 200
    device = "cpu"
    cfg = {}

    def __init__(self):
        self.pool = gymnasium.make_vec("Pendulum-v1", num_envs=NUMBER)
        self.seen, _ = self.pool.reset(seed=0)
        self.episode_length_buf = torch.zeros(NUMBER, dtype=torch.long)

    def get_observations(self):
        return TensorDict({"policy": torch.as_tensor(self.seen)}, batch_size=[NUMBER])

    def step(self, actions):
        self.seen, rewards, ended, cut, _ = self.pool.step(actions.clamp(-2, 2).numpy())
        dones = torch.as_tensor(ended | cut).long()
        self.episode_length_buf = (self.episode_length_buf + 1) * (1 - dones)
        return self.get_observations(), torch.as_tensor(rewards).float(), dones, {}


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        runner = OnPolicyRunner(Pendulums(), {
            "num_steps_per_env": 64, "save_interval": 1000, "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
            "algorithm": {"class_name": "PPO", "num_learning_epochs": 5, "num_mini_batches": 4},
            "actor": {**NETWORK, "distribution_cfg": {"class_name": "GaussianDistribution"}}, "critic": NETWORK},
            log_dir=folder)
        runner.learn(int(sys.argv[1]))


if __name__ == "__main__":
    main()
