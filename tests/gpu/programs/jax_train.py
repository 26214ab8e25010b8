# SPDX-License-Identifier: Apache-2.0
"""jax_train.py: a jitted actor-critic update on CartPole in JAX. Says what an iteration took."""
import contextlib
import json
import time

import jax
import jax.numpy as jnp
from cartpole_numpy import CartPoles
from jax_policy import logits_of, new_parameters

try:
    import gpubound
except ImportError:  # a plain program
    gpubound = None

ENVIRONMENTS, STEPS, WARM_UP, ITERATIONS, RATE = 64, 16, 3, 40, 1e-3


def operation(name):
    return gpubound.operation(name) if gpubound else contextlib.nullcontext()


@jax.jit
def act(parameters, states, key):
    return jax.random.categorical(key, logits_of(parameters, states))


@jax.jit
def update(parameters, states, actions, returns):
    def loss(current):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits_of(current, states)),
                                     actions[:, None], 1)[:, 0]
        return -(chosen * (returns - returns.mean())).mean()

    slopes = jax.grad(loss)(parameters)
    return [weights - RATE * slope for weights, slope in zip(parameters, slopes)]


def iterate(parameters, poles, key):
    states, actions, rewards = [], [], []
    for one in jax.random.split(key, STEPS):
        with operation("inference"):
            state = jnp.asarray(poles.state)
            action = act(parameters, state, one)
            chosen = jax.device_get(action)
        with operation("simulation"):
            _, reward, _ = poles.step(chosen)
        states.append(state)
        actions.append(action)
        rewards.append(jnp.asarray(reward))
    with operation("backpropagation"):
        returns = jnp.cumsum(jnp.stack(rewards)[::-1], axis=0)[::-1].reshape(-1)
        parameters = update(parameters, jnp.concatenate(states), jnp.concatenate(actions), returns)
        jax.block_until_ready(parameters)
    return parameters


def main():
    poles, key = CartPoles(ENVIRONMENTS), jax.random.key(1)
    parameters = new_parameters(key, 128)
    for number in range(WARM_UP + ITERATIONS):
        if number == WARM_UP:
            began = time.perf_counter()
            if gpubound:
                gpubound.phase("measured")
        parameters = iterate(parameters, poles, jax.random.fold_in(key, number))
        if gpubound:
            gpubound.step(env_steps=STEPS * ENVIRONMENTS)
    took = time.perf_counter() - began
    print(json.dumps({"platform": jax.devices()[0].platform,
                      "ms_per_iteration": took * 1000 / ITERATIONS}))


if __name__ == "__main__":
    main()
