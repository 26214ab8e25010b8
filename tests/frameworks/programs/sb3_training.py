# SPDX-License-Identifier: Apache-2.0
"""Trains an algorithm of stable-baselines3 on CPU and prints a digest of its weights:
sb3_training.py ALGORITHM ENVIRONMENT STEPS WORKERS. More than one worker: each in a process of its own.
Knows nothing of gpubound."""
import hashlib
import sys
import time

import stable_baselines3
import torch
from sb3_options import OPTIONS
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv


def main():
    algorithm, environment, steps, workers = sys.argv[1:]
    torch.set_num_threads(1)
    vectorised = SubprocVecEnv if int(workers) > 1 else DummyVecEnv
    environments = make_vec_env(environment, n_envs=int(workers), seed=1, vec_env_cls=vectorised)
    model = getattr(stable_baselines3, algorithm)("MlpPolicy", environments, seed=1, device="cpu",
                                                  **OPTIONS[algorithm])
    begin = time.process_time()
    model.learn(int(steps))
    seconds = time.process_time() - begin
    environments.close()
    digest = hashlib.sha256()
    for name, value in sorted(model.policy.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.numpy().tobytes())
    print(digest.hexdigest())
    print(f"{seconds:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
