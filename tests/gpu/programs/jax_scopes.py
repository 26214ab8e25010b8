# SPDX-License-Identifier: Apache-2.0
"""jax_scopes.py: a whole training iteration in one jitted function, whose operations are there only as
jax.named_scope. Says what an iteration took."""
import json
import time

import jax
import jax.numpy as jnp
from jax_policy import logits_of, new_parameters

ENVIRONMENTS, STEPS, WARM_UP, ITERATIONS, RATE = 256, 16, 3, 50, 1e-3


def simulate(state, action):
    """A cart and a pole, about as gymnasium has them."""
    place, speed, angle, spin = (state[:, i] for i in range(4))
    push = jnp.where(action == 1, 10.0, -10.0) / 1.1 - jnp.sin(angle)
    turn = 9.8 * jnp.sin(angle) - push * jnp.cos(angle)
    moved = jnp.stack([place + 0.02 * speed, speed + 0.02 * push,
                       angle + 0.02 * spin, spin + 0.02 * turn], 1)
    fallen = (jnp.abs(moved[:, 0]) > 2.4) | (jnp.abs(moved[:, 2]) > 0.2)
    return jnp.where(fallen[:, None], 0.01, moved), 1.0 - fallen


@jax.jit
def train(parameters, state, key):
    def step(state, one):
        with jax.named_scope("inference"):
            action = jax.random.categorical(one, logits_of(parameters, state))
        with jax.named_scope("simulation"):
            moved, reward = simulate(state, action)
        return moved, (state, action, reward)

    state, (states, actions, rewards) = jax.lax.scan(step, state, jax.random.split(key, STEPS))
    with jax.named_scope("backpropagation"):
        def loss(current):
            chosen = jnp.take_along_axis(jax.nn.log_softmax(logits_of(current, states)),
                                         actions[..., None], 2)[..., 0]
            return -(chosen * (rewards - rewards.mean())).mean()

        slopes = jax.grad(loss)(parameters)
        parameters = [weights - RATE * slope for weights, slope in zip(parameters, slopes)]
    return parameters, state, rewards.sum()


def main():
    parameters, state = new_parameters(jax.random.key(1), 256), jnp.full((ENVIRONMENTS, 4), 0.01)
    for number in range(WARM_UP + ITERATIONS):
        if number == WARM_UP:
            jax.block_until_ready(parameters)
            began = time.perf_counter()
        parameters, state, reward = train(parameters, state, jax.random.key(number))
        float(reward)
    took = time.perf_counter() - began
    print(json.dumps({"platform": jax.devices()[0].platform,
                      "ms_per_iteration": took * 1000 / ITERATIONS}))


if __name__ == "__main__":
    main()
