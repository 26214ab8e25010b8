# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning under PyTorch Lightning's automatic optimization: each training step first plays one step of the
environment, all within the closure of the optimizer's step, and batches come from a DataLoader over the replay memory."""
import collections
import logging
import random
import sys

import gymnasium
import numpy
import pytorch_lightning
import torch
from torch import nn

BATCH = 128


class Replay(torch.utils.data.IterableDataset):
    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def __iter__(self):
        while True:
            yield from random.sample(self.memory, BATCH)


def network():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


class Learner(pytorch_lightning.LightningModule):
    def __init__(self, environment):
        super().__init__()
        self.environment = environment
        self.online, self.target = network(), network()
        self.target.load_state_dict(self.online.state_dict())
        self.memory = collections.deque(maxlen=10000)
        self.observation, _ = environment.reset(seed=0)
        self.episodes = 0
        for _ in range(2 * BATCH):
            self.step(environment.action_space.sample())

    def step(self, action):
        observation, reward, terminated, truncated, _ = self.environment.step(action)
        self.memory.append((self.observation, action, numpy.float32(reward), terminated, observation))
        self.observation = observation
        if terminated or truncated:
            self.episodes += 1
            self.observation, _ = self.environment.reset()

    def action(self):
        if random.random() < 0.1:
            return self.environment.action_space.sample()
        with torch.no_grad():
            action = self.online(torch.as_tensor(self.observation).unsqueeze(0)).argmax(1).item()
        return action

    def training_step(self, batch, _):
        chosen = self.action()
        self.step(chosen)
        states, actions, rewards, ended, successors = batch
        estimated = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            following = self.target(successors).max(1).values
            following[ended] = 0
        wanted = following * 0.99 + rewards
        loss = nn.functional.mse_loss(estimated, wanted)
        self.log_dict({"loss": loss, "estimated": estimated.mean(), "episodes": float(self.episodes)})
        if self.global_step % 100 == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss

    def backward(self, loss):
        loss.backward()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(Replay(self.memory), batch_size=BATCH)


def main(steps):
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    random.seed(0)
    torch.manual_seed(0)
    environment = gymnasium.make("CartPole-v1")
    trainer = pytorch_lightning.Trainer(max_steps=steps, accelerator="cpu", logger=False, enable_checkpointing=False,
                                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Learner(environment))
    environment.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
