#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop of one's own: evolution strategies that balance a pole, with threads that work for the
loop, phases, counters and iterations named for gpubound.

    gpubound run -- python examples/python/custom_loop.py

Needs nothing but the package gpubound, which `gpubound run` brings along. The main thread waits while
others simulate; because they adopt its operation, the report counts that as simulation, not as idle.
"""
import math
import random
from concurrent.futures import ThreadPoolExecutor

import gpubound

GENERATIONS, POPULATION, STEPS, SPREAD, RATE = 12, 16, 200, 0.5, 0.4


def simulate(weights):
    """Steps until the pole falls."""
    position, speed, angle, turning = 0.0, 0.0, 0.05, 0.0
    for count in range(STEPS):
        push = weights[0] * position + weights[1] * speed + weights[2] * angle + weights[3] * turning
        force = 10.0 if push > 0 else -10.0
        torque = (9.8 * math.sin(angle) - math.cos(angle) * force / 1.1) / 0.65
        speed, turning = speed + 0.02 * force / 1.1, turning + 0.02 * torque
        position, angle = position + 0.02 * speed, angle + 0.02 * turning
        if abs(position) > 2.4 or abs(angle) > 0.21:
            return count
    return STEPS


def simulate_for(token, weights):
    """On a thread of the pool, for the operation that the main thread has open."""
    with gpubound.adopt(token):
        return simulate(weights)


@gpubound.operation("proposal")
def propose(weights, generator):
    """Weights near the present ones."""
    return [[weight + generator.gauss(0, SPREAD) for weight in weights] for _ in range(POPULATION)]


@gpubound.operation("update")
def improve(weights, candidates, scores):
    """Moves towards the better half of the candidates."""
    ranked = sorted(zip(scores, candidates), reverse=True)[:POPULATION // 2]
    mean = [sum(column) / len(ranked) for column in zip(*(candidate for _, candidate in ranked))]
    return [weight + RATE * (goal - weight) for weight, goal in zip(weights, mean)]


def main():
    generator = random.Random(1)
    weights = [0.0] * 4
    gpubound.metadata({"algorithm": "evolution strategies", "population": POPULATION})
    gpubound.phase("warmup")
    with ThreadPoolExecutor(2) as pool:
        for generation in range(GENERATIONS):
            if generation == 2:
                gpubound.phase("training")
            candidates = propose(weights, generator)
            with gpubound.operation("simulation"):
                token = gpubound.hand_over()
                scores = list(pool.map(simulate_for, [token] * POPULATION, candidates))
            weights = improve(weights, candidates, scores)
            gpubound.counter("best score", max(scores))
            gpubound.step(env_steps=sum(scores))
    print(f"the best of the last generation balanced for {max(scores)} of {STEPS} steps")


if __name__ == "__main__":
    main()
