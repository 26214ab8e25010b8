# SPDX-License-Identifier: Apache-2.0
"""Trains PPO of stable-baselines3 on CartPole, with the log that it prints: sb3_fps.py STEPS."""
import sys

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


def main():
    torch.set_num_threads(1)
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=4, seed=1), n_steps=256, batch_size=128, n_epochs=6,
                seed=1, device="cpu", verbose=1)
    model.learn(int(sys.argv[1]))


if __name__ == "__main__":
    main()
