# SPDX-License-Identifier: Apache-2.0
"""Trains PPO or SAC of skrl on two environments: skrl_training.py ALGORITHM STEPS."""
import sys

import gymnasium
import torch
from skrl.agents.torch.ppo import PPO
from skrl.agents.torch.sac import SAC
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
from torch import nn

QUIET = {"write_interval": 0, "checkpoint_interval": 0}


def layers(inputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 1))


class Actor(GaussianMixin, Model):
    def __init__(self, observations, actions):
        Model.__init__(self, observation_space=observations, action_space=actions, device="cpu")
        GaussianMixin.__init__(self)
        self.net = layers(3)
        self.log_std = nn.Parameter(torch.zeros(1))

    def compute(self, inputs, role=""):
        return 2 * torch.tanh(self.net(inputs["observations"])), {"log_std": self.log_std}


class Critic(DeterministicMixin, Model):
    def __init__(self, observations, actions, of_actions):
        Model.__init__(self, observation_space=observations, action_space=actions, device="cpu")
        DeterministicMixin.__init__(self)
        self.of_actions = of_actions
        self.net = layers(4 if of_actions else 3)

    def compute(self, inputs, role=""):
        seen = inputs["observations"]
        return self.net(torch.cat([seen, inputs["taken_actions"]], 1) if self.of_actions else seen), {}


def main():
    kind, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    env = wrap_env(gymnasium.make_vec("Pendulum-v1", num_envs=2))
    spaces = env.observation_space, env.action_space
    models = {"policy": Actor(*spaces)}
    options = {"rollouts": 64, "learning_epochs": 4, "mini_batches": 2}
    if kind == "PPO":
        models["value"] = Critic(*spaces, False)
    else:
        models.update((name, Critic(*spaces, True)) for name in
                      ("critic_1", "critic_2", "target_critic_1", "target_critic_2"))
        options = {"batch_size": 64, "random_timesteps": 50, "learning_starts": 50}
    memory = RandomMemory(memory_size=64 if kind == "PPO" else 2000, num_envs=2, device="cpu")
    agent = {"PPO": PPO, "SAC": SAC}[kind](models=models, memory=memory, observation_space=spaces[0],
                                          action_space=spaces[1], device="cpu", cfg={**options, "experiment": QUIET})
    trainer = SequentialTrainer(cfg={"timesteps": steps, "headless": True, "disable_progressbar": True}, env=env,
                                agents=agent)
    trainer.train()


if __name__ == "__main__":
    main()
