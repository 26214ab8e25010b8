#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays simulators in several variants: vectorised_simulators.py CLOCKS REPETITIONS SECONDS PART...

PART is VARIANT:SIMULATOR:FLOATS:ENVIRONMENTS:FUSED:STEPS. VARIANT is how environments are stepped: `loop`, Python, one
after the other; `gymnasium`, its SyncVectorEnv; `torch`, PyTorch, all at a time; `jax`, likewise, by vmap and jit;
`scan`, likewise FUSED steps in a call, by lax.scan; `blocks`, likewise, but environments whose states fit into a cache
play all FUSED steps before the next ones do. SIMULATOR is `cartpole`, or `traffic`, whose state has FLOATS floats, each
of which a step reads and writes. An iteration has STEPS steps of ENVIRONMENTS environments.

How parts are played, and what is in CLOCKS, says played_parts.py. Actions are there beforehand: all time is the
simulator's.
"""
import math

import gpubound
import played_parts

DECAY, PUSH = 0.999, 0.001
BLOCK_BYTES = 1 << 16  # of the states that play all fused steps before the next ones do
START = 0.05


def cartpole_of_numbers(state, push, start):
    """The pole on a cart, by Euler's method; starts again where it fell."""
    position, speed, angle, turning = state
    sine, cosine = math.sin(angle), math.cos(angle)
    pushed = (10.0 * push + 0.05 * turning * turning * sine) / 1.1
    torque = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
    position += 0.02 * speed
    angle += 0.02 * turning
    if abs(position) > 2.4 or abs(angle) > 0.2095:
        return start
    return position, speed + 0.02 * (pushed - 0.05 * torque * cosine / 1.1), angle, turning + 0.02 * torque


def traffic_of_numbers(state, push, _start):
    push *= PUSH
    return [value * DECAY + push for value in state]


def moved_of_arrays(xp, state, push):
    """Likewise, of torch or jax.numpy: position, speed, angle and turning where the pole moves on, by environment."""
    position, speed, angle, turning = state
    sine, cosine = xp.sin(angle), xp.cos(angle)
    pushed = (10.0 * push + 0.05 * turning * turning * sine) / 1.1
    torque = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
    return (position + 0.02 * speed, speed + 0.02 * (pushed - 0.05 * torque * cosine / 1.1),
            angle + 0.02 * turning, turning + 0.02 * torque)


def fell_of_arrays(moved):
    return (abs(moved[0]) > 2.4) | (abs(moved[2]) > 0.2095)


def cartpole_of_arrays(xp, state, push, start):
    moved = xp.stack(moved_of_arrays(xp, state, push))
    return xp.where(fell_of_arrays(moved), start, moved)


def traffic_of_arrays(_xp, state, push, _start):
    return state * DECAY + push * PUSH


OF_NUMBERS = {"cartpole": cartpole_of_numbers, "traffic": traffic_of_numbers}
OF_ARRAYS = {"cartpole": cartpole_of_arrays, "traffic": traffic_of_arrays}


# --- What is given: the same for all variants, without chance ---

def start_of(environment, place):
    return START * ((environment * 7 + place * 13) % 17 - 8) / 8


def push_of(step, environment):
    return 1.0 - 2.0 * ((step * 5 + environment * 3) // 4 % 2)


def numbers(of):
    starts = [tuple(start_of(environment, place) for place in range(of.floats))
              for environment in range(of.environments)]
    return starts, [[push_of(step, environment) for environment in range(of.environments)] for step in range(of.steps)]


def arrays(of):
    """Starts by float and environment, pushes by step and environment."""
    import numpy

    return (start_of(numpy.arange(of.environments)[None, :], numpy.arange(of.floats)[:, None]).astype(numpy.float32),
            push_of(numpy.arange(of.steps)[:, None], numpy.arange(of.environments)[None, :]).astype(numpy.float32))


# --- Variants: each returns a state, what to give to each call, the call, and a function for the first state ---

def loop(of):
    step = OF_NUMBERS[of.simulator]
    starts, pushes = numbers(of)

    def play(states, now):
        return [step(state, push, start) for state, push, start in zip(states, now, starts)]
    return starts, pushes, play, lambda states: states[0]


def gymnasium(of):
    import gymnasium
    import numpy

    step = OF_NUMBERS[of.simulator]
    starts, pushes = numbers(of)

    class One(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (of.floats,), numpy.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def __init__(self, start):
            self.start = start

        def reset(self, *, seed=None, options=None):
            self.state = self.start
            return numpy.array(self.state, numpy.float32), {}

        def step(self, action):
            self.state = step(self.state, 1.0 if action else -1.0, self.start)
            return numpy.array(self.state, numpy.float32), 1.0, False, False, {}

    environments = gymnasium.vector.SyncVectorEnv([lambda start=start: One(start) for start in starts])
    with gpubound.operation("simulation"):  # a reset outside of operations begins a rollout of gpubound's rules
        environments.reset()
    actions = [numpy.array([push > 0 for push in now], numpy.int64) for now in pushes]
    return None, actions, lambda _, now: environments.step(now)[0], lambda states: states[0].tolist()


def torch(of):
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    step = OF_ARRAYS[of.simulator]
    starts, pushes = map(torch.from_numpy, arrays(of))
    return (starts, list(pushes), lambda states, now: step(torch, states, now, starts),
            lambda states: states[:, 0].tolist())


def jax(of, block=None):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_cpu_enable_async_dispatch", False)  # a call returns when its work is done
    step = OF_ARRAYS[of.simulator]
    block = block or of.environments
    blocks = of.environments // block
    starts, pushes = arrays(of)
    # Axes: block, then float and environment, the longer one last; of pushes: block, step of the call, environment.
    axis = 1 if block >= of.floats else 0
    begin = jnp.array(starts.reshape(of.floats, blocks, block).transpose((1, 0, 2) if axis == 1 else (1, 2, 0)))
    given = [jnp.array(pushes[at:at + of.fused].reshape(of.fused, blocks, block).transpose(1, 0, 2))
             for at in range(0, of.steps, of.fused)]

    def one(state, push, start):
        return step(jnp, state, push, start)
    every = jax.vmap(one, in_axes=(axis, 0, axis), out_axes=axis)

    def of_block(arguments):
        states, now, start = arguments
        if of.fused == 1:
            return every(states, now[0], start)
        return jax.lax.scan(lambda states, push: (every(states, push, start), None), states, now)[0]

    @jax.jit
    def simulate(states, now, start):
        if blocks == 1:
            return of_block((states[0], now[0], start[0]))[None]
        return jax.lax.map(of_block, (states, now, start))
    return (begin, given, lambda states, now: simulate(states, now, begin),
            lambda states: (states[0, :, 0] if axis == 1 else states[0, 0]).tolist())


def blocks(of):
    return jax(of, max(1, min(of.environments, BLOCK_BYTES // (4 * of.floats))))


VARIANTS = {"loop": loop, "gymnasium": gymnasium, "torch": torch, "jax": jax, "scan": jax, "blocks": blocks}


class Named:
    """What the name of a part says."""

    def __init__(self, name):
        self.variant, self.simulator, *counts = name.split(":")
        self.floats, self.environments, self.fused, self.steps = map(int, counts)


def part_of(name):
    of = Named(name)
    return played_parts.Part(name, of.steps * of.environments, *VARIANTS[of.variant](of))


if __name__ == "__main__":
    played_parts.main(part_of)
