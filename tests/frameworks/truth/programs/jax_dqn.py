# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning in JAX on the CPU: a jitted apply asks the policy, and the program waits for what it gives back before
it steps the environment; one jitted function is target, loss, gradients and optimizer."""
import random
import sys

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import optax


def initial(key, widths=(4, 128, 128, 2)):
    return [(jax.random.normal(part, (a, b)) / a ** 0.5, jnp.zeros(b))
            for part, a, b in zip(jax.random.split(key, len(widths)), widths, widths[1:])]


@jax.jit
def apply(parameters, observations):
    for weight, bias in parameters[:-1]:
        observations = jax.nn.relu(observations @ weight + bias)
    weight, bias = parameters[-1]
    return observations @ weight + bias


OPTIMIZER = optax.adam(1e-3)


@jax.jit
def update(parameters, target_parameters, state, observations, actions, rewards, successors, ends):
    wanted = rewards + 0.99 * (1 - ends) * apply(target_parameters, successors).max(axis=1)

    def loss(candidate):
        estimated = apply(candidate, observations)[jnp.arange(len(actions)), actions]
        return ((estimated - wanted) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)(parameters)
    changes, state = OPTIMIZER.update(gradients, state)
    return value, optax.apply_updates(parameters, changes), state


def main(steps):
    random.seed(0)
    np.random.seed(0)
    env = gymnasium.make("CartPole-v1")
    parameters = initial(jax.random.PRNGKey(0))
    target_parameters, state = parameters, OPTIMIZER.init(parameters)
    rows = []
    observation, _ = env.reset(seed=0)
    for step in range(steps):
        if random.random() < 0.2:
            action = random.randrange(2)
        else:
            values = apply(parameters, observation[None])
            action = int(values.argmax(axis=1)[0])
        successor, reward, terminated, truncated, _ = env.step(action)
        rows.append((observation, action, reward, successor, float(terminated)))
        observation = successor
        if terminated or truncated:
            observation, _ = env.reset()
        if step >= 200 and step % 4 == 0:
            chosen = [rows[i] for i in np.random.randint(0, len(rows), 128)]
            seen, taken, rewards, successors, ends = (np.stack(column) for column in zip(*chosen))
            value, parameters, state = update(parameters, target_parameters, state, seen, taken, rewards, successors, ends)
            if step % 500 == 0:
                target_parameters = parameters
                print(step, float(value))
    env.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
