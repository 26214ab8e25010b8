# SPDX-License-Identifier: Apache-2.0
"""Steps CartPole in WORKERS processes: vector_environments.py WORKERS STEPS METHOD. Knows nothing of
gpubound."""
import hashlib
import sys
import time

import gymnasium
import numpy


def main():
    workers, steps, method = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    environments = gymnasium.vector.AsyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1")] * workers, context=method)
    observations, _ = environments.reset(seed=1)
    actions = numpy.random.default_rng(1)
    digest = hashlib.sha256()
    begin = time.process_time()
    for _ in range(steps):
        observations, *_ = environments.step(actions.integers(0, 2, workers))
        digest.update(observations.tobytes())
    seconds = time.process_time() - begin
    environments.close()
    print(digest.hexdigest())
    print(f"{seconds:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
