# SPDX-License-Identifier: Apache-2.0
"""A training program that needs nothing but Python: a cart that learns by policy gradients to stay where it is."""
import math
import random

import gpubound

UPDATES, HORIZON = 12, 200
random.seed(1)


class Cart:
    def __init__(self):
        self.place, self.speed = random.uniform(-1, 1), 0.0

    def step(self, push):
        self.speed = 0.95 * self.speed + (0.1 if push else -0.1)
        self.place += 0.1 * self.speed
        return (self.place, self.speed), -abs(self.place)


def probability(weights, seen):
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, seen))))


def main():
    weights, first, last = [0.0, 0.0], None, None
    for _ in range(UPDATES):
        cart, steps, total = Cart(), [], 0.0
        seen = (cart.place, cart.speed)
        with gpubound.phase("rollout"):
            for _ in range(HORIZON):
                with gpubound.operation("inference"):
                    chance = probability(weights, seen)
                    push = random.random() < chance
                with gpubound.operation("simulation"):
                    after, reward = cart.step(push)
                steps.append((seen, push - chance, reward))
                seen, total = after, total + reward
        with gpubound.phase("update"), gpubound.operation("backpropagation"):
            to_come, mean = 0.0, total / HORIZON
            for seen, surprise, reward in reversed(steps):
                to_come = 0.9 * to_come + reward - mean
                weights = [weight + 0.02 * to_come * surprise * value for weight, value in zip(weights, seen)]
        gpubound.step(env_steps=HORIZON)
        first, last = (total if first is None else first), total
    print(f"return {first:.1f}, then {last:.1f}")


if __name__ == "__main__":
    main()
