#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays Cartpole in JAX in variants that XLA fuses in different ways: fused_cartpole.py CLOCKS REPETITIONS SECONDS
PART...

PART is VARIANT:ENVIRONMENTS:STEPS, an iteration of STEPS steps of ENVIRONMENTS environments. A pole that fell starts
again at random. The first variant steps all environments in a call, the others take all STEPS in one, by lax.scan:

    call          the state in one array, put together by concatenation; Threefry draws the starts in the step
    scan          likewise, all steps in a call
    generator     likewise, with XLA's own generator (rbg) in place of Threefry
    beforehand    as `scan`, with the starts of all steps drawn before the call
    separate      likewise, with a state of four arrays and no concatenation
    unroll        likewise, with UNROLLED steps in a pass of the loop
    unfused       `separate`, compiled without XLA's pass that fuses
    unroll_unfused  `unroll`, likewise

Scopes in what is compiled are called draw, physics and reset. How parts are played, and what is in CLOCKS, says
played_parts.py; `facts` has the optimised HLO of a part, and what its cost_analysis() says.
"""
import jax
import jax.numpy as jnp
import numpy
import played_parts
from vectorised_simulators import fell_of_arrays, moved_of_arrays

UNROLLED = 10
UNFUSED = {"xla_disable_hlo_passes": "fusion"}
START = 0.05
COSTS = ("flops", "bytes accessed", "transcendentals")


def concatenated(state, push, start):
    with jax.named_scope("physics"):
        moved = jnp.stack(moved_of_arrays(jnp, state, push))
    with jax.named_scope("reset"):
        return jnp.where(fell_of_arrays(moved), start, moved)


def separate(state, push, start):
    with jax.named_scope("physics"):
        moved = moved_of_arrays(jnp, state, push)
    with jax.named_scope("reset"):
        fell = fell_of_arrays(moved)
        return tuple(jnp.where(fell, begin, of) for begin, of in zip(start, moved))


def draw(key, environments):
    """The next key, and a start of each environment: position, speed, angle, turning."""
    with jax.named_scope("draw"):
        key, now = jax.random.split(key)
        return key, jax.random.uniform(now, (4, environments), minval=-START, maxval=START)


def step_that_draws(carried, push):
    state, key = carried
    key, start = draw(key, push.shape[0])
    return concatenated(state, push, start), key


def scanned(step, unroll=1):
    """All steps in a call. Its name is that of each variant's call."""
    def simulate(carried, given):
        return jax.lax.scan(lambda carried, given: (step(carried, given), None), carried, given, unroll=unroll)[0]
    return simulate


def simulate(carried, given):
    return step_that_draws(carried, given)


# By variant: what is compiled, the generator that it calls or None, whether the state is four arrays, options for XLA.
VARIANTS = {
    "call": (simulate, "threefry2x32", False, {}),
    "scan": (scanned(step_that_draws), "threefry2x32", False, {}),
    "generator": (scanned(step_that_draws), "rbg", False, {}),
    "beforehand": (scanned(lambda state, given: concatenated(state, *given)), None, False, {}),
    "separate": (scanned(lambda state, given: separate(state, *given)), None, True, {}),
    "unroll": (scanned(lambda state, given: separate(state, *given), UNROLLED), None, True, {}),
    "unfused": (scanned(lambda state, given: separate(state, *given)), None, True, UNFUSED),
    "unroll_unfused": (scanned(lambda state, given: separate(state, *given), UNROLLED), None, True, UNFUSED),
}


def part_of(name):
    variant, *counts = name.split(":")
    environments, steps = map(int, counts)
    function, generator, apart, options = VARIANTS[variant]
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # a call returns when its work is done
    chance = numpy.random.default_rng(1)
    pushes = jnp.array(chance.choice((-1.0, 1.0), (steps, environments)), jnp.float32)
    first = jnp.array(chance.uniform(-START, START, (4, environments)), jnp.float32)
    key = jax.random.key(1, impl=generator or "threefry2x32")
    if generator:
        carried, given = (first, key), list(pushes) if variant == "call" else [pushes]
    else:  # the same starts as the first iteration of `scan` draws, in each iteration
        starts = jax.jit(lambda key: jax.lax.scan(lambda key, _: draw(key, environments), key, length=steps)[1])(key)
        carried = tuple(first) if apart else first
        given = [(pushes, tuple(starts.transpose(1, 0, 2)) if apart else starts)]
    play = jax.jit(function, compiler_options=options or None)
    compiled = play.lower(carried, given[0]).compile()
    costs = compiled.cost_analysis()

    def first_of(carried):
        state = carried[0] if generator else carried
        return [of[0] for of in state]
    return played_parts.Part(name, steps * environments, carried, given, play, first_of,
                             {"hlo": compiled.as_text(), "costs": {name: costs[name] for name in COSTS}})


if __name__ == "__main__":
    played_parts.main(part_of)
