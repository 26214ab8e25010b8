# SPDX-License-Identifier: Apache-2.0
"""What the algorithms of stable-baselines3 are made with, on CPU and on a GPU, so that their figures can
be compared."""

OPTIONS = {
    "PPO": {"n_steps": 512, "batch_size": 128, "n_epochs": 4},
    "A2C": {"n_steps": 64},
    "DQN": {"learning_starts": 200, "train_freq": 4},
    "SAC": {"learning_starts": 200},
    "TD3": {"learning_starts": 200},
}
