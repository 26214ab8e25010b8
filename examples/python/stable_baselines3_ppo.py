#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PPO of stable-baselines3 on CartPole, as its documentation has it: nothing here knows of gpubound.

    pip install stable-baselines3==2.7.0
    gpubound run -- python examples/python/stable_baselines3_ppo.py

The report has simulation, inference, backpropagation, optimizer, and around them rollout and update.
"""
from stable_baselines3 import PPO


def main():
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=512, seed=1, device="cpu")
    model.learn(total_timesteps=2048)
    print(f"{model.num_timesteps} time steps")


if __name__ == "__main__":
    main()
