# SPDX-License-Identifier: Apache-2.0
"""sb3_loop.py ALGORITHM ENVIRONMENT ITERATIONS [--device cpu] [--pause-before N...]: trains an algorithm of
stable-baselines3 and says when each of its iterations began. Knows nothing of gpubound."""
import argparse

import stable_baselines3
from iteration_log import IterationLog
from sb3_options import OPTIONS
from stable_baselines3.common.callbacks import BaseCallback

NEVER = 1 << 40  # environment steps: the loop is ended by its iterations


class Ender(BaseCallback):
    def __init__(self, log, iterations):
        super().__init__()
        self.log, self.iterations, self.begun = log, iterations, 0

    def _on_rollout_start(self):
        self.begun = self.log.begin()

    def _on_step(self):
        return self.begun <= self.iterations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("algorithm", choices=OPTIONS)
    parser.add_argument("environment")
    parser.add_argument("iterations", type=int)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--pause-before", type=int, nargs="*", default=())
    options = parser.parse_args()
    log = IterationLog(options.pause_before)
    model = getattr(stable_baselines3, options.algorithm)(
        "MlpPolicy", options.environment, seed=1, device=options.device, **OPTIONS[options.algorithm])
    model.learn(NEVER, callback=Ender(log, options.iterations))
    log.say()


if __name__ == "__main__":
    main()
