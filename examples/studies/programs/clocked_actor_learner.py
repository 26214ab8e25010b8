#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Actors play, a learner learns from whoever has played, and sends its weights to all of them after every fourth batch:
clocked_actor_learner.py ITERATIONS STEPS SUBSTEPS CLOCKS, a batch being 50 to 150 % of STEPS environment steps, each of
so many substeps of the simulator. Weights and batches are copied to a device and back, by libcudart.so.13.

It keeps clocks of its own, of CLOCK_MONOTONIC as the recorder's are, and writes them to the file CLOCKS as JSON:
`busy_ns`, the time of each operation over all threads; `outside_ns`, for each weight sync but the first the stretches
since the one before in which the learner was in no operation; `iterations`, of each its end and how long threads of all
processes had waited for a core by then, as the kernel says.
"""
import ctypes
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import random
import sys
from time import monotonic_ns, sleep

import gpubound

ACTORS, BATCHES, RATE = 2, 4, 0.05
COPIED_BYTES = 1 << 20
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind


def play(weights, state, steps, substeps, chance, busy):
    """A batch: what was seen, what was done about it, and whether the pole fell."""
    angle, speed = state
    bias, of_angle, of_speed = weights
    batch = []
    for _ in range(steps):
        begin = monotonic_ns()
        with gpubound.operation("inference"):
            right = chance.random() < 1 / (1 + math.exp(-(bias + of_angle * angle + of_speed * speed)))
        between = monotonic_ns()
        with gpubound.operation("simulation"):
            before = angle, speed
            push, part = (8 if right else -8), 0.02 / substeps
            for _ in range(substeps):
                speed += (angle * 9.8 + push) * part
                angle += speed * part
            fell = abs(angle) > 0.5
            if fell:
                angle, speed = chance.uniform(-0.05, 0.05), 0.0
        busy["inference"] += between - begin
        busy["simulation"] += monotonic_ns() - between
        batch.append((*before, right, fell))
    return batch, (angle, speed)


def act(number, steps, substeps, learner):
    gpubound.role("rollout")
    chance, state = random.Random(number), (0.0, 0.0)
    busy = {"inference": 0, "simulation": 0, "weight_sync": 0}
    weights = learner.recv()
    while weights is not None:
        batch, state = play(weights, state, chance.randint(steps // 2, steps * 3 // 2), substeps, chance, busy)
        learner.send(batch)
        while weights is not None and learner.poll():
            received = learner.recv()
            begin = monotonic_ns()
            with gpubound.operation("weight_sync"):
                weights = received
            busy["weight_sync"] += monotonic_ns() - begin
    learner.send(busy)


def learn(weights, batch):
    """Weights after a step of policy gradients. A return is how many steps the pole still stood."""
    returns, standing = [], 0
    for *_, fell in reversed(batch):
        standing = 0 if fell else min(standing + 1, 100)
        returns.append(standing)
    mean = sum(returns) / len(returns)
    gradient = [0.0, 0.0, 0.0]
    for (angle, speed, right, _), standing in zip(batch, reversed(returns)):
        to_right = 1 / (1 + math.exp(-(weights[0] + weights[1] * angle + weights[2] * speed)))
        slope = (right - to_right) * (standing - mean)
        gradient[0] += slope
        gradient[1] += slope * angle
        gradient[2] += slope * speed
    return [weight + RATE * part / len(batch) for weight, part in zip(weights, gradient)]


class Device:
    """Memory of a device, and as much of the host's, between which is copied."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcudart.so.13")
        self.cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.here, self.there = ctypes.create_string_buffer(COPIED_BYTES), ctypes.c_void_p()
        self.check(self.cuda.cudaMalloc(ctypes.byref(self.there), ctypes.c_size_t(COPIED_BYTES)))

    def copy(self, kind):
        to, of = (self.there, self.here) if kind == TO_DEVICE else (self.here, self.there)
        self.check(self.cuda.cudaMemcpy(to, of, COPIED_BYTES, kind))

    @staticmethod
    def check(error):
        if error != 0:
            raise RuntimeError(f"CUDA error {error}")


class Clocks:
    """What the learner does, by its own clock. `with clocks.operation(NAME):` is one of gpubound's, and is timed."""

    def __init__(self):
        self.busy, self.outside, self.left, self.name = {"update": 0, "weight_sync": 0}, [], None, ""

    def operation(self, name):
        self.name, self.scope = name, gpubound.operation(name)
        return self

    def __enter__(self):
        self.begin = monotonic_ns()
        if self.left is not None:
            self.outside[-1].append(self.begin - self.left)
        if self.name == "weight_sync":
            self.outside.append([])
        self.scope.__enter__()

    def __exit__(self, *exception):
        self.scope.__exit__(*exception)
        self.left = monotonic_ns()
        self.busy[self.name] += self.left - self.begin


def waited_ns(pids):
    """How long threads of these processes have been ready to run without a core."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    total += int(file.read().split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has just ended
    return total


def train(actors, pids, iterations, clocks):
    weights, ends = [0.0, 0.0, 0.0], []
    device = Device()
    for _ in range(iterations):
        with clocks.operation("weight_sync"):
            device.copy(TO_HOST)
            for actor in actors:
                actor.send(weights)
        steps = 0
        for _ in range(BATCHES):
            batch = random.choice(multiprocessing.connection.wait(actors)).recv()
            with clocks.operation("update"):
                device.copy(TO_DEVICE)
                weights = learn(weights, batch)
            steps += len(batch)
        gpubound.step(env_steps=steps)
        ends.append({"end_ns": monotonic_ns(), "waited_ns": waited_ns(pids)})
    return ends


def last_of(actor):
    """What an actor sends when it ends, after batches that nobody has taken."""
    while True:
        received = actor.recv()
        if isinstance(received, dict):
            return received


def main():
    iterations, steps, substeps = (int(word) for word in sys.argv[1:4])
    gpubound.role("train")
    random.seed(0)
    context = multiprocessing.get_context("spawn")
    actors, processes = [], []
    for number in range(ACTORS):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=act, args=(number, steps, substeps, theirs)))
        processes[-1].start()
        actors.append(ours)
    clocks = Clocks()
    ends = train(actors, [os.getpid(), *(process.pid for process in processes)], iterations, clocks)
    for actor in actors:
        actor.send(None)
    busy = clocks.busy
    for actor in actors:
        for name, nanoseconds in last_of(actor).items():
            busy[name] = busy.get(name, 0) + nanoseconds
    for process in processes:
        process.join()
    sleep(0.3)  # the recorder samples once more: iterations end between two samples
    with open(sys.argv[4], "w") as file:
        json.dump({"busy_ns": busy, "outside_ns": clocks.outside[:-1], "iterations": ends}, file)


if __name__ == "__main__":
    main()
