# SPDX-License-Identifier: Apache-2.0
"""Trains rl_games' PPO on eight pendulums of gymnasium: rl_games_training.py EPOCHS. What it times, it prints."""
import sys
import tempfile

import gymnasium
import numpy as np
from rl_games.common import env_configurations, vecenv
from rl_games.common.ivecenv import IVecEnv
from rl_games.torch_runner import Runner

NUMBER = 8


class Pendulums(IVecEnv):
    def __init__(self):
        self.pool = gymnasium.make_vec("Pendulum-v1", num_envs=NUMBER)

    def step(self, actions):
        seen, rewards, ended, cut, _ = self.pool.step(2 * np.asarray(actions))
        return seen, rewards.astype(np.float32), ended | cut, {}

    def reset(self):
        return self.pool.reset(seed=0)[0]

    def get_env_info(self):
        return {"observation_space": self.pool.single_observation_space,
                "action_space": gymnasium.spaces.Box(-1, 1, (1,)), "agents": 1, "value_size": 1}


def main():
    vecenv.register("PENDULUMS", lambda *_, **__: Pendulums())
    env_configurations.register("pendulums", {"env_creator": lambda **_: None, "vecenv_type": "PENDULUMS"})
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner()
        runner.load({"params": {
            "seed": 1, "algo": {"name": "a2c_continuous"}, "model": {"name": "continuous_a2c_logstd"},
            "network": {"name": "actor_critic", "separate": False, "space": {"continuous": {
                "mu_activation": "None", "sigma_activation": "None", "mu_init": {"name": "default"},
                "sigma_init": {"name": "const_initializer", "val": 0}, "fixed_sigma": True}},
                "mlp": {"units": [64, 64], "activation": "elu", "initializer": {"name": "default"}}},
            "config": {
                "name": "pendulums", "env_name": "pendulums", "device": "cpu", "train_dir": folder, "ppo": True,
                "gamma": 0.9, "tau": 0.9, "learning_rate": 1e-3, "lr_schedule": None, "normalize_advantage": True,
                "e_clip": 0.2, "torch_compile": False, "entropy_coef": 0, "critic_coef": 1, "bounds_loss_coef": 0,
                "clip_value": True, "grad_norm": 1, "truncate_grads": True, "horizon_length": 64,
                "minibatch_size": 128, "mini_epochs": 5, "num_actors": NUMBER, "max_epochs": int(sys.argv[1]),
                "score_to_win": 1e9, "save_best_after": 1000, "save_frequency": 0, "normalize_input": True,
                "normalize_value": True, "mixed_precision": False, "print_stats": True,
                "reward_shaper": {"scale_value": 0.1}}}})
        runner.run({"train": True, "play": False})


if __name__ == "__main__":
    main()
