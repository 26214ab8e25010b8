# SPDX-License-Identifier: Apache-2.0
"""CartPole for many poles at once, in numpy, with the usual physics."""
import numpy as np

GRAVITY, CART_KG, POLE_KG, HALF_LENGTH_M, FORCE_N, STEP_S = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
LIMITS = np.array([2.4, 12 * np.pi / 180])


class CartPoles:
    def __init__(self, count, seed=1):
        self.random = np.random.default_rng(seed)
        self.state = self.random.uniform(-0.05, 0.05, (count, 4)).astype(np.float32)

    def step(self, actions):
        x, v, angle, spin = self.state.T
        force = np.where(actions == 1, FORCE_N, -FORCE_N)
        total = CART_KG + POLE_KG
        push = (force + POLE_KG * HALF_LENGTH_M * spin**2 * np.sin(angle)) / total
        turn = (GRAVITY * np.sin(angle) - np.cos(angle) * push) / (
            HALF_LENGTH_M * (4 / 3 - POLE_KG * np.cos(angle) ** 2 / total))
        slide = push - POLE_KG * HALF_LENGTH_M * turn * np.cos(angle) / total
        self.state = np.stack([x + STEP_S * v, v + STEP_S * slide, angle + STEP_S * spin,
                               spin + STEP_S * turn], axis=1).astype(np.float32)
        fallen = (np.abs(self.state[:, [0, 2]]) > LIMITS).any(axis=1)
        self.state[fallen] = self.random.uniform(-0.05, 0.05, (int(fallen.sum()), 4))
        return self.state, np.where(fallen, 0.0, 1.0).astype(np.float32), fallen
