# SPDX-License-Identifier: Apache-2.0
"""A training on the stand-in CUDA runtime that says all that gpubound can be told of a training, and
prints as JSON what its own clocks and counts say of the same: training_figures.py ITERATIONS."""
import contextlib
import json
import sys
import threading
import time

import gpubound
from worker_kernels import CUDA, Dim3, KERNEL, check

WARM_UP = 1  # iterations
ENV_STEPS = 64
FLOPS = 3e9
PEAK = 1e12
GOAL = 60

truth = {"simulation": 0.0, "inference": 0.0, "exposed": 0.0, "hidden": 0.0, "bytes": 0, "syncs": 0,
         "loop": 0.0, "iterations": 0, "consumed": 0, "discarded": 0, "behind": {}}


@contextlib.contextmanager
def timed(what, counts):
    begin = time.perf_counter()
    yield
    if counts:
        truth[what] += time.perf_counter() - begin


def launch(count):
    for _ in range(count):
        check(CUDA.cudaLaunchKernel(KERNEL, Dim3(4, 1, 1), Dim3(128, 1, 1), None, 0, None))
    check(CUDA.cudaDeviceSynchronize())


def send_meanwhile(counts):
    """Half of the weights, while the main thread goes on."""
    with timed("hidden", counts), gpubound.operation("weight_sync"):
        time.sleep(0.012)


def iteration(number, counts):
    with timed("simulation", counts), gpubound.operation("simulation"):
        time.sleep(0.02)
    with timed("inference", counts), gpubound.operation("inference"):
        launch(2)
        time.sleep(0.005)
    if number % 3 == 2:
        gpubound.discarded(samples=16, reason="stale")
        truth["discarded"] += 16
    else:
        version = max(0, number - number % 3)  # made some updates ago
        gpubound.consumed(samples=ENV_STEPS, version=version)
        truth["consumed"] += ENV_STEPS
        behind = number - version
        truth["behind"][behind] = truth["behind"].get(behind, 0) + ENV_STEPS
    sender = threading.Thread(target=send_meanwhile, args=(counts,))
    with gpubound.operation("update"):
        sender.start()
        launch(4)
        sender.join()
    with timed("exposed", counts), gpubound.operation("weight_sync"):
        time.sleep(0.008)
        gpubound.counter("weight_sync_bytes", 1 << 20)
    if counts:
        truth["syncs"] += 2
        truth["bytes"] += 1 << 20
    gpubound.policy_version(number + 1)
    result = 10 * number
    gpubound.metric("return", result)
    # The mean of two is 10 * number - 5.
    if result - 5 >= GOAL and "reached" not in truth:
        truth["reached"] = time.clock_gettime(time.CLOCK_REALTIME)


def main(iterations):
    CUDA.gpubound_sim_register_kernel(KERNEL, b"worker_kernel", None, None, 0, 32, 0)
    gpubound.policy_version(0)
    gpubound.flops(per_iteration=FLOPS, peak_per_second=PEAK)
    for number in range(iterations):
        counts = number >= WARM_UP
        begin = time.perf_counter()
        iteration(number, counts)
        gpubound.step(env_steps=ENV_STEPS)
        if counts:
            truth["loop"] += time.perf_counter() - begin
            truth["iterations"] += 1


main(int(sys.argv[1]))
print(json.dumps(truth))
