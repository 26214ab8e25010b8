#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains TD3 on the walker of MuJoCo in one of several frameworks:
walker_td3.py CLOCKS VARIANT SEED ITERATIONS NETWORK... An iteration has one environment step and one gradient step, the
actor learns in every second one. NETWORK is NAME=WIDTH,WIDTH: the hidden layers of the actor and of both critics.

VARIANT is a library, `stable-baselines3` (PyTorch) or `sbx` (JAX), or what this file does in one framework: `torch`;
`torch.compile`, likewise, but with the update compiled; `jax`, with act and update jitted; `tensorflow`, eager, with
Keras; `tf.function`, likewise, but with act and update made graphs. In this file all but `act` and `update` is the same
for all, numbers by chance included, so that `losses` can be compared.

Each network is trained in a phase of its name. What compiles is done before. All that it says to gpubound are phases.

The program keeps clocks of its own, and writes them to the file CLOCKS as JSON. By network, `iteration_ns` has how long
each iteration took, `simulation_ns`, `inference_ns` and `update_ns` how long these took in all of them, `prepare_ns`
how long it took before; `losses` are those of the critics in the first updates, with a batch that is the same for all.
"""
import json
import sys
from time import monotonic_ns

import gymnasium
import numpy

import gpubound

BATCH, BUFFER, BEFORE = 100, 100_000, 200  # transitions; so many before it learns
RATE, DISCOUNT, AVERAGING, DELAY = 1e-3, 0.99, 0.005, 2
EXPLORATION, SMOOTHING, CLIP = 0.1, 0.2, 0.5
FIRST_UPDATES = 6


class Clocks(gymnasium.Wrapper):
    """Around the environment; `of` is around any other call."""

    def __init__(self, environment):
        super().__init__(environment)
        self.clear()

    def clear(self):
        self.sums = {"simulation_ns": 0, "inference_ns": 0, "update_ns": 0}
        self.ends_ns = [monotonic_ns()]

    def of(self, name, call, *arguments, **keywords):
        begin_ns = monotonic_ns()
        result = call(*arguments, **keywords)
        self.sums[name] += monotonic_ns() - begin_ns
        return result

    def step(self, action):
        return self.of("simulation_ns", self.env.step, action)

    def result(self):
        return {**self.sums, "iteration_ns": numpy.diff(self.ends_ns).tolist()}


# --- The libraries ---

def library(variant, clocks, widths, seed):
    """Returns what trains for so many iterations."""
    import torch

    torch.set_num_threads(1)
    if variant == "sbx":
        from sbx import TD3
    else:
        from stable_baselines3 import TD3
    from stable_baselines3.common.noise import NormalActionNoise

    class Clocked(TD3):
        def train(self, *arguments, **keywords):
            clocks.of("update_ns", super().train, *arguments, **keywords)
            clocks.ends_ns.append(monotonic_ns())

        def predict(self, *arguments, **keywords):
            return clocks.of("inference_ns", super().predict, *arguments, **keywords)

    count = clocks.action_space.shape[0]
    model = Clocked("MlpPolicy", clocks, seed=seed, device="cpu", buffer_size=BUFFER, learning_starts=BEFORE,
                    batch_size=BATCH, learning_rate=RATE, gamma=DISCOUNT, tau=AVERAGING, policy_delay=DELAY,
                    target_policy_noise=SMOOTHING, target_noise_clip=CLIP, policy_kwargs={"net_arch": list(widths)},
                    action_noise=NormalActionNoise(numpy.zeros(count), numpy.full(count, EXPLORATION)))
    model.learn(BEFORE + FIRST_UPDATES)
    return lambda iterations: model.learn(iterations, reset_num_timesteps=False), None


# --- One file: the loop ---

class Buffer:
    def __init__(self, observation_size, action_size, chance):
        self.chance, self.count = chance, 0
        self.arrays = [numpy.zeros((BUFFER, size), numpy.float32)
                       for size in (observation_size, action_size, 1, observation_size, 1)]

    def add(self, *values):
        for array, value in zip(self.arrays, values):
            array[self.count % BUFFER] = value
        self.count += 1

    def sample(self):
        """Observations, actions, rewards, the observations that followed, whether that was an end; and noise."""
        rows = self.chance.integers(min(self.count, BUFFER), size=BATCH)
        made = [array[rows] for array in self.arrays]
        return *made, self.chance.normal(0, SMOOTHING, made[1].shape).astype(numpy.float32)


def one_file(variant, clocks, widths, seed):
    chance = numpy.random.default_rng(seed)
    sizes = [space.shape[0] for space in (clocks.observation_space, clocks.action_space)]
    act, update = FRAMEWORKS[variant](starts(chance, sizes, widths))
    buffer = Buffer(*sizes, chance)
    observation, _ = clocks.reset(seed=seed)

    def iterate(chooses, number):
        """The environment's step, and the update of that number; the first ones play by chance and learn nothing."""
        nonlocal observation
        if chooses:
            action = clocks.of("inference_ns", act, observation.astype(numpy.float32)[None])[0]
            action = (action + chance.normal(0, EXPLORATION, action.shape)).clip(-1, 1)
        else:
            action = chance.uniform(-1, 1, sizes[1])
        following, reward, ended, truncated, _ = clocks.step(action)
        buffer.add(observation, action, reward, following, ended)
        observation = clocks.reset()[0] if ended or truncated else following
        if number is not None:
            clocks.of("update_ns", lambda: update(buffer.sample(), number % DELAY == 0))
            clocks.ends_ns.append(monotonic_ns())

    def train(iterations):
        for number in range(1, iterations + 1):
            iterate(True, number)

    for _ in range(BEFORE):
        iterate(False, None)
    batch = buffer.sample()
    losses = [update(batch, number % DELAY == 0) for number in range(1, FIRST_UPDATES + 1)]
    train(FIRST_UPDATES)  # what an iteration needs first is had
    return train, losses


def starts(chance, sizes, widths):
    """Weights and biases by layer, of the actor and of two critics."""
    observation, action = sizes

    def layers(*counts):
        return [[chance.uniform(-1, 1, shape).astype(numpy.float32) / numpy.float32(ins**0.5)
                 for shape in ((ins, outs), (outs,))] for ins, outs in zip(counts, counts[1:])]
    return [layers(observation, *widths, action), *(layers(observation + action, *widths, 1) for _ in range(2))]


# --- One file: the frameworks. Each returns `act`, and `update`, which returns the critics' loss as a number ---

def with_torch(start, compiles=False):
    import torch
    from torch import nn

    torch.set_num_threads(1)

    def network(layers, *last):
        made = []
        for weights, biases in layers:
            linear = nn.Linear(*weights.shape)
            linear.weight.data = torch.tensor(weights.T.copy())
            linear.bias.data = torch.tensor(biases)
            made += [linear, nn.ReLU()]
        return nn.Sequential(*made[:-1], *last)

    def networks():
        return [network(start[0], nn.Tanh()), *map(network, start[1:])]

    (actor, *critics), (target_actor, *target_critics) = networks(), networks()
    actor_parameters = list(actor.parameters())
    critic_parameters = [parameter for critic in critics for parameter in critic.parameters()]
    targets = [parameter for network in (target_actor, *target_critics) for parameter in network.parameters()]
    actor_optimizer = torch.optim.Adam(actor_parameters, lr=RATE)
    critic_optimizer = torch.optim.Adam(critic_parameters, lr=RATE)

    def update_critic(observation, action, reward, following, ended, noise):
        with torch.no_grad():
            next_action = (target_actor(following) + noise.clamp(-CLIP, CLIP)).clamp(-1, 1)
            pair = torch.cat((following, next_action), 1)
            value = torch.min(*(critic(pair) for critic in target_critics))
            target = reward + (1 - ended) * DISCOUNT * value
        pair = torch.cat((observation, action), 1)
        loss = sum(nn.functional.mse_loss(critic(pair), target) for critic in critics)
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        return loss

    def update_actor(observation):
        loss = -critics[0](torch.cat((observation, actor(observation)), 1)).mean()
        actor_optimizer.zero_grad()
        loss.backward()
        actor_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(targets, actor_parameters + critic_parameters):
                slow.lerp_(fast, AVERAGING)
    if compiles:
        update_critic, update_actor = torch.compile(update_critic), torch.compile(update_actor)

    def act(observation):
        with torch.no_grad():
            return actor(torch.from_numpy(observation)).numpy()

    def update(batch, improves):
        batch = [torch.from_numpy(values) for values in batch]
        loss = update_critic(*batch)
        if improves:
            update_actor(batch[0])
        return loss.item()
    return act, update


def with_torch_compile(start):
    return with_torch(start, True)


def with_jax(start):
    import jax
    import jax.numpy as jnp
    import optax

    adam = optax.adam(RATE)
    actor, critics = targets = jax.tree.map(jnp.array, (start[0], start[1:]))
    actor_optimizer, critic_optimizer = map(adam.init, targets)

    def network(layers, values):
        for number, (weights, biases) in enumerate(layers):
            values = (jax.nn.relu(values) if number else values) @ weights + biases
        return values

    def actions(layers, observation):
        return jnp.tanh(network(layers, observation))

    @jax.jit
    def choose(layers, observation):
        return actions(layers, observation)

    def critics_loss(critics, pair, target):
        return sum(((network(critic, pair) - target)**2).mean() for critic in critics)

    def actor_loss(actor, critic, observation):
        return -network(critic, jnp.concatenate((observation, actions(actor, observation)), 1)).mean()

    def step(gradients, optimizer, layers):
        changes, optimizer = adam.update(gradients, optimizer)
        return optax.apply_updates(layers, changes), optimizer

    @jax.jit
    def update_critic(critics, targets, optimizer, batch):
        observation, action, reward, following, ended, noise = batch
        target_actor, target_critics = targets
        next_action = (actions(target_actor, following) + noise.clip(-CLIP, CLIP)).clip(-1, 1)
        pair = jnp.concatenate((following, next_action), 1)
        value = jnp.minimum(*(network(critic, pair) for critic in target_critics))
        target = reward + (1 - ended) * DISCOUNT * value
        loss, gradients = jax.value_and_grad(critics_loss)(critics, jnp.concatenate((observation, action), 1), target)
        return *step(gradients, optimizer, critics), loss

    @jax.jit
    def update_actor(actor, critics, targets, optimizer, observation):
        gradients = jax.grad(actor_loss)(actor, critics[0], observation)
        actor, optimizer = step(gradients, optimizer, actor)
        return actor, optimizer, optax.incremental_update((actor, critics), targets, AVERAGING)

    def act(observation):
        return numpy.asarray(choose(actor, observation))

    def update(batch, improves):
        nonlocal actor, critics, targets, actor_optimizer, critic_optimizer
        critics, critic_optimizer, loss = update_critic(critics, targets, critic_optimizer, batch)
        if improves:
            actor, actor_optimizer, targets = update_actor(actor, critics, targets, actor_optimizer, batch[0])
        return float(loss)
    return act, update


def with_tensorflow(start, graphs=False):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def network(layers, last=None):
        made = [tf.keras.layers.Dense(len(biases), "relu") for _, biases in layers[:-1]]
        made = tf.keras.Sequential([*made, tf.keras.layers.Dense(len(layers[-1][1]), last)])
        made.build((None, len(layers[0][0])))
        made.set_weights([values for layer in layers for values in layer])
        return made

    def networks():
        return [network(start[0], "tanh"), *map(network, start[1:])]

    (actor, *critics), (target_actor, *target_critics) = networks(), networks()
    actor_variables = actor.trainable_variables
    critic_variables = [variable for critic in critics for variable in critic.trainable_variables]
    targets = [variable for network in (target_actor, *target_critics) for variable in network.trainable_variables]
    actor_optimizer, critic_optimizer = (tf.keras.optimizers.Adam(RATE, epsilon=1e-8) for _ in range(2))
    actor_optimizer.build(actor_variables)
    critic_optimizer.build(critic_variables)

    def choose(observation):
        return actor(observation)

    def update_critic(observation, action, reward, following, ended, noise):
        next_action = tf.clip_by_value(target_actor(following) + tf.clip_by_value(noise, -CLIP, CLIP), -1, 1)
        pair = tf.concat((following, next_action), 1)
        value = tf.minimum(*(critic(pair) for critic in target_critics))
        target = reward + (1 - ended) * DISCOUNT * value
        pair = tf.concat((observation, action), 1)
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_mean((critic(pair) - target)**2) for critic in critics)
        critic_optimizer.apply_gradients(zip(tape.gradient(loss, critic_variables), critic_variables))
        return loss

    def update_actor(observation):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(critics[0](tf.concat((observation, actor(observation)), 1)))
        actor_optimizer.apply_gradients(zip(tape.gradient(loss, actor_variables), actor_variables))
        for slow, fast in zip(targets, actor_variables + critic_variables):
            slow.assign_add(AVERAGING * (fast - slow))
    if graphs:
        choose, update_critic, update_actor = map(tf.function, (choose, update_critic, update_actor))

    def act(observation):
        return choose(tf.constant(observation)).numpy()

    def update(batch, improves):
        batch = [tf.constant(values) for values in batch]
        loss = update_critic(*batch)
        if improves:
            update_actor(batch[0])
        return float(loss.numpy())
    return act, update


def with_tf_function(start):
    return with_tensorflow(start, True)


FRAMEWORKS = {"torch": with_torch, "torch.compile": with_torch_compile, "jax": with_jax,
              "tensorflow": with_tensorflow, "tf.function": with_tf_function}


def main():
    place, variant, seed, iterations, *networks = sys.argv[1:]
    result = {}
    for word in networks:
        name, _, widths = word.partition("=")
        clocks = Clocks(gymnasium.make("Walker2d-v5"))
        make = one_file if variant in FRAMEWORKS else library
        begin_ns = monotonic_ns()
        train, losses = make(variant, clocks, tuple(map(int, widths.split(","))), int(seed))
        prepare_ns = monotonic_ns() - begin_ns
        with gpubound.phase(name):
            clocks.clear()
            train(int(iterations))
        result[name] = {**clocks.result(), "prepare_ns": prepare_ns, "losses": losses}
    with open(place, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
