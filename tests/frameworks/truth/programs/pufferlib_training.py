# SPDX-License-Identifier: Apache-2.0
"""Trains PufferLib's PPO on CartPole: pufferlib_training.py BACKEND STEPS, with environments in the process itself
(`Serial`) or in two workers (`Multiprocessing`)."""
import sys
import tempfile

import gymnasium
import pufferlib.emulation
import pufferlib.models
import pufferlib.vector
import torch
from pufferlib import pufferl


def cartpole(buf=None, seed=0):
    return pufferlib.emulation.GymnasiumPufferEnv(env=gymnasium.make("CartPole-v1"), buf=buf, seed=seed)


def main():
    backend, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    workers = {"num_workers": 2} if backend == "Multiprocessing" else {}
    envs = pufferlib.vector.make(cartpole, num_envs=8, backend=backend, **workers)
    policy = pufferlib.models.Default(envs.driver_env, hidden_size=64)
    sys.argv[1:] = []  # which load_config() reads
    config = dict(pufferl.load_config("default")["train"], env="cartpole", device="cpu", optimizer="adam",
                  learning_rate=0.001, total_timesteps=steps, batch_size=1024, minibatch_size=256, bptt_horizon=32,
                  update_epochs=4, data_dir=tempfile.mkdtemp())
    trainer = pufferl.PuffeRL(config, envs, policy)
    while trainer.global_step < steps:
        trainer.evaluate()
        trainer.train()
    trainer.close()


if __name__ == "__main__":
    main()
