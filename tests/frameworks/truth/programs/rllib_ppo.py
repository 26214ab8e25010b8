# SPDX-License-Identifier: Apache-2.0
"""PPO of RLlib with two remote environment runners and a local learner, which prints its timers: rllib_ppo.py TURNS."""
import json
import sys

import ray
from ray.rllib.algorithms.ppo import PPOConfig


def main():
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    config = (PPOConfig().environment("CartPole-v1").env_runners(num_env_runners=2, rollout_fragment_length=256)
              .training(train_batch_size_per_learner=512, num_epochs=4, minibatch_size=128).debugging(seed=0))
    algorithm = config.build_algo()
    for _ in range(int(sys.argv[1])):
        result = algorithm.train()
        print(json.dumps({name: float(value) for name, value in result["timers"].items()}))
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
