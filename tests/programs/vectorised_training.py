# SPDX-License-Identifier: Apache-2.0
"""Training as it is mostly done: eight worker processes step environments while a learner waits for
them, and an evaluator beside it uses the same device. Runs on the stand-in CUDA runtime, under `gpubound run`."""
import multiprocessing
import time

import gpubound
from worker_kernels import launch

# A step takes several times as long as all work of the device, however many cores there are.
WORKERS, ITERATIONS, STEP_S = 8, 20, 0.04


def step_environment(connection):
    """Computes for a while for each action, until None."""
    while connection.recv() is not None:
        until = time.monotonic() + STEP_S
        while time.monotonic() < until:
            pass
        connection.send(0.0)


def evaluate(connection):
    """A kernel for each policy, until None."""
    while connection.recv() is not None:
        launch(1)


def start(target):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=target, args=(theirs,))
    process.start()
    theirs.close()
    return ours, process


def main():
    workers = [start(step_environment) for _ in range(WORKERS)]
    evaluator, evaluation = start(evaluate)
    for _ in range(ITERATIONS):
        with gpubound.operation("simulation"):
            for connection, _ in workers:
                connection.send(1)
            for connection, _ in workers:
                connection.recv()
        with gpubound.operation("backpropagation"):
            launch(2)
        evaluator.send(1)
        gpubound.step()
    for connection, process in workers + [(evaluator, evaluation)]:
        connection.send(None)
        process.join()


if __name__ == "__main__":
    main()
