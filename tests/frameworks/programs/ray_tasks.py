# SPDX-License-Identifier: Apache-2.0
"""Learns from tasks that Ray carries out in other processes, and asks an actor now and then, without a
word of gpubound: ray_tasks.py UPDATES. Prints a digest of the weights."""
import hashlib
import sys

import numpy
import ray
import torch
from torch import nn


@ray.remote(num_cpus=1)
def sample_episodes(seed):
    generator, total = numpy.random.default_rng(seed), numpy.zeros((64, 4), numpy.float32)
    for _ in range(200):
        total += generator.normal(size=(64, 4)).astype(numpy.float32)
    return total


@ray.remote(num_cpus=0)
class Evaluator:
    def evaluate(self, number):
        return sum(range(number * 1000))


def main():
    updates = int(sys.argv[1])
    torch.manual_seed(1)
    torch.set_num_threads(1)
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    policy, evaluator = nn.Linear(4, 2), Evaluator.remote()
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    for update in range(updates):
        observations = ray.get([sample_episodes.remote(2 * update), sample_episodes.remote(2 * update + 1)])
        loss = policy(torch.as_tensor(numpy.concatenate(observations))).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ray.get(evaluator.evaluate.remote(update))
    ray.shutdown()
    weights = b"".join(value.numpy().tobytes() for value in policy.state_dict().values())
    print(hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
