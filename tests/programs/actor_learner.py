# SPDX-License-Identifier: Apache-2.0
"""A learner and two actors, a process and a device of the stand-in CUDA runtime each, which prints as
JSON what its own clocks say: actor_learner.py sync|async ITERATIONS.

sync: the learner asks both actors for samples and waits for them, learns, and sends its weights. async:
actors go on by themselves, and the learner takes samples from whoever has some. Times are intervals of
CLOCK_MONOTONIC, by process and what it did."""
import contextlib
import json
import multiprocessing
import multiprocessing.connection
import sys
import time

import gpubound

SIMULATE = (0.01, 0.025)  # seconds, by actor
LEARN, SYNC = 0.008, 0.004
KERNELS = 5
QUIT, GO = "quit", "go"


class Clock:
    """What this process did, and when."""

    def __init__(self):
        self.times = {}

    @contextlib.contextmanager
    def of(self, what):
        begin = time.monotonic_ns()
        yield
        self.times.setdefault(what, []).append((begin, time.monotonic_ns()))


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def launch(count):
    for _ in range(count):
        check(CUDA.cudaLaunchKernel(KERNEL, Dim3(4, 1, 1), Dim3(128, 1, 1), None, 0, None))
    check(CUDA.cudaDeviceSynchronize())


def use_device(number):
    """Loads the runtime in this process alone."""
    global CUDA, KERNEL, Dim3, check
    from worker_kernels import CUDA, KERNEL, Dim3, check
    check(CUDA.cudaSetDevice(number))
    CUDA.gpubound_sim_register_kernel(KERNEL, b"kernel", None, None, 0, 32, 0)


def make_samples(actor):
    with gpubound.operation("simulation"):
        compute(SIMULATE[actor])
    with gpubound.operation("inference"):
        launch(KERNELS)


def act(actor, synchronous, learner):
    gpubound.role("rollout")
    use_device(1 + actor)
    clock = Clock()
    while True:
        if synchronous or learner.poll(0):
            with clock.of("wait"):
                order = learner.recv()
            if order == QUIT:
                break
        with clock.of("work"):
            make_samples(actor)
            learner.send("samples")
    learner.send(clock.times)
    learner.close()


def collect(actors, synchronous, clock):
    if synchronous:
        for actor in actors:
            actor.send(GO)
    waiting = list(actors)
    while waiting:
        with clock.of("starved"):
            ready = multiprocessing.connection.wait(waiting)
            for actor in ready:
                actor.recv()
        waiting = [actor for actor in waiting if actor not in ready]
        if not synchronous:
            return


def train(actors, synchronous, iterations, clock):
    for _ in range(iterations):
        with gpubound.operation("collect"):
            collect(actors, synchronous, clock)
        with clock.of("learn"), gpubound.operation("update"):
            launch(KERNELS)
            compute(LEARN)
        with clock.of("sync"), gpubound.operation("weight_sync"):
            compute(SYNC)
        with clock.of("step"):
            gpubound.step()


def last_of(actor):
    """What an actor sends when it quits, after samples that nobody has taken."""
    while True:
        received = actor.recv()
        if received != "samples":
            return received


def main(mode, iterations):
    synchronous = mode == "sync"
    gpubound.role("train")
    context = multiprocessing.get_context("spawn")
    actors, processes = [], []
    for number in range(len(SIMULATE)):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=act, args=(number, synchronous, theirs)))
        processes[-1].start()
        theirs.close()
        actors.append(ours)
    use_device(0)
    clock = Clock()
    train(actors, synchronous, iterations, clock)
    for actor in actors:
        actor.send(QUIT)
    of_actors = [last_of(actor) for actor in actors]
    for process in processes:
        process.join()
    print(json.dumps({"learner": clock.times, "actors": of_actors}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
