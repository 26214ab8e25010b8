#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PPO on CartPole in JAX: environments, rollout and update are one jitted function, called in a loop.
Nothing here knows of gpubound.

    pip install jax==0.10.2 optax==0.2.6
    gpubound run -- python examples/python/jax_ppo.py 20

The report has the operation train_step, in layer backend, and each call of it as an iteration. What
happens inside the jitted function has no names on a CPU: its host sees one call.
"""
import functools
import hashlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy
import optax

ENVIRONMENTS, HORIZON, EPOCHS, MINIBATCHES = 16, 128, 4, 4
GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 2.5e-3
OPTIMIZER = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(RATE))


def reset(key):
    return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)


def step(key, state, action):
    """CartPole's equations of motion, by Euler's method; starts again where the pole fell."""
    position, speed, angle, turning = state
    force = jnp.where(action == 1, 10.0, -10.0)
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (force + 0.05 * turning ** 2 * sine) / 1.1
    torque = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine ** 2 / 1.1))
    moved = jnp.stack([position + 0.02 * speed, speed + 0.02 * (push - 0.05 * torque * cosine / 1.1),
                       angle + 0.02 * turning, turning + 0.02 * torque])
    fell = (jnp.abs(moved[0]) > 2.4) | (jnp.abs(moved[2]) > 0.2095)
    return jnp.where(fell, reset(key), moved), fell


def layer(key, inputs, outputs):
    return jax.random.normal(key, (inputs, outputs)) / inputs ** 0.5, jnp.zeros(outputs)


def network(parameters, observation):
    """Logits of the two actions and the value of the state."""
    (hidden, bias), (actor, actor_bias), (critic, critic_bias) = parameters
    seen = jnp.tanh(observation @ hidden + bias)
    return seen @ actor + actor_bias, (seen @ critic + critic_bias)[..., 0]


def loss(parameters, batch):
    observation, action, old, advantage, target = batch
    logits, value = network(parameters, observation)
    log_probability = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
    ratio = jnp.exp(log_probability - old)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
    return jnp.mean(-gain + 0.5 * (value - target) ** 2)


def collect(parameters, states, key):
    """HORIZON steps of every environment: the experience, and the states that it ends in."""
    def one(states, key):
        choice, fresh = jax.random.split(key)
        logits, value = network(parameters, states)
        action = jax.random.categorical(choice, logits)
        log_probability = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        moved, fell = jax.vmap(step)(jax.random.split(fresh, ENVIRONMENTS), states, action)
        return moved, (states, action, log_probability, value, fell)
    return jax.lax.scan(one, states, jax.random.split(key, HORIZON))


def advantages(values, fell, last_value):
    def one(carry, seen):
        running, following = carry
        value, ended = seen
        alive = 1.0 - ended
        running = 1.0 + GAMMA * following * alive - value + GAMMA * LAMBDA * alive * running
        return (running, value), running
    start = (jnp.zeros(ENVIRONMENTS), last_value)
    return jax.lax.scan(one, start, (values, fell.astype(jnp.float32)), reverse=True)[1]


@jax.jit
def train_step(parameters, optimizer, states, key):
    with jax.named_scope("rollout"):
        key, begin, shuffle = jax.random.split(key, 3)
        states, (seen, action, old, values, fell) = collect(parameters, states, begin)
        gain = advantages(values, fell, network(parameters, states)[1])
    batch = [part.reshape((-1,) + part.shape[2:])
             for part in (seen, action, old, gain, gain + values)]

    def learn(carry, chosen):
        parameters, optimizer = carry
        gradient = jax.grad(loss)(parameters, [part[chosen] for part in batch])
        change, optimizer = OPTIMIZER.update(gradient, optimizer)
        return (optax.apply_updates(parameters, change), optimizer), None

    with jax.named_scope("update"):
        order = jnp.concatenate([jax.random.permutation(k, HORIZON * ENVIRONMENTS)
                                 for k in jax.random.split(shuffle, EPOCHS)])
        order = order.reshape(EPOCHS * MINIBATCHES, -1)
        (parameters, optimizer), _ = jax.lax.scan(learn, (parameters, optimizer), order)
    return parameters, optimizer, states, key, 1.0 / jnp.maximum(fell.mean(), 1e-3)


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    key, *keys = jax.random.split(jax.random.key(1), 5)
    parameters = [layer(keys[0], 4, 64), layer(keys[1], 64, 2), layer(keys[2], 64, 1)]
    optimizer = OPTIMIZER.init(parameters)
    states = jax.vmap(reset)(jax.random.split(keys[3], ENVIRONMENTS))
    begin = time.process_time()
    for _ in range(updates):
        parameters, optimizer, states, key, length = train_step(parameters, optimizer, states, key)
        length = float(length)
    print(f"{time.process_time() - begin:.3f} s, {length:.0f} steps per episode", file=sys.stderr)
    digest = functools.reduce(lambda text, value: text + numpy.asarray(value).tobytes(),
                              jax.tree.leaves(parameters), b"")
    print(hashlib.sha256(digest).hexdigest())


if __name__ == "__main__":
    main()
