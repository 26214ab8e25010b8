# SPDX-License-Identifier: Apache-2.0
"""The policy of the JAX programs here: CartPole's four numbers to the logits of its two actions."""
import jax
import jax.numpy as jnp


def new_parameters(key, width):
    sizes = ((4, width), (width, width), (width, 2))
    keys = jax.random.split(key, len(sizes))
    return [jax.random.normal(one, size) / size[0] ** 0.5 for one, size in zip(keys, sizes)]


def logits_of(parameters, states):
    for weights in parameters[:-1]:
        states = jnp.tanh(states @ weights)
    return states @ parameters[-1]
