# SPDX-License-Identifier: Apache-2.0
"""Trains DQN, SAC or PPO of tianshou and prints what it timed: tianshou_training.py ALGORITHM STEPS. The first two are
tested once per epoch."""
import dataclasses
import json
import sys

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN, PPO, SAC
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.modelfree.sac import SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

WIDTHS = [64, 64]


def algorithm_of(kind, space):
    optimizer = AdamOptimizerFactory()
    if kind == "DQN":
        model = Net(state_shape=(4,), action_shape=2, hidden_sizes=WIDTHS)
        policy = DiscreteQLearningPolicy(model=model, action_space=space, eps_training=0.1)
        return DQN(policy=policy, optim=optimizer, target_update_freq=50)
    if kind == "PPO":
        net = Net(state_shape=(4,), hidden_sizes=WIDTHS)
        policy = ProbabilisticActorPolicy(actor=DiscreteActor(preprocess_net=net, action_shape=2),
                                          dist_fn=torch.distributions.Categorical, action_space=space,
                                          action_scaling=False)
        return PPO(policy=policy, critic=DiscreteCritic(preprocess_net=net), optim=optimizer)
    actor = ContinuousActorProbabilistic(preprocess_net=Net(state_shape=(3,), hidden_sizes=WIDTHS), action_shape=(1,),
                                         unbounded=True, conditioned_sigma=True)
    critic = ContinuousCritic(preprocess_net=Net(state_shape=(3,), action_shape=(1,), hidden_sizes=WIDTHS, concat=True))
    return SAC(policy=SACPolicy(actor=actor, action_space=space), policy_optim=optimizer, critic=critic,
               critic_optim=AdamOptimizerFactory())


def main():
    kind, steps = sys.argv[1], int(sys.argv[2])
    np.random.seed(0)
    torch.manual_seed(0)
    name = "Pendulum-v1" if kind == "SAC" else "CartPole-v1"
    environments, others = (DummyVectorEnv([lambda: gymnasium.make(name)] * number) for number in (2, 1))
    environments.seed(0)
    others.seed(1)
    algorithm = algorithm_of(kind, environments.action_space[0])
    collector = Collector(algorithm, environments, VectorReplayBuffer(4000, 2), exploration_noise=kind == "DQN")
    if kind == "PPO":
        parameters = OnPolicyTrainerParams(
            training_collector=collector, max_epochs=1, epoch_num_steps=steps, collection_step_num_env_steps=256,
            batch_size=64, update_step_num_repetitions=4, test_in_training=False)
    else:
        collector.reset()
        collector.collect(n_step=100, random=True)
        parameters = OffPolicyTrainerParams(
            training_collector=collector, test_collector=Collector(algorithm, others), max_epochs=1,
            epoch_num_steps=steps, collection_step_num_env_steps=10 if kind == "DQN" else 2,
            update_step_num_gradient_steps_per_sample=0.1 if kind == "DQN" else 0.5, batch_size=64,
            test_step_num_episodes=1, test_in_training=False)
    timing = algorithm.run_training(parameters).timing
    print(json.dumps(dataclasses.asdict(timing)))


if __name__ == "__main__":
    main()
