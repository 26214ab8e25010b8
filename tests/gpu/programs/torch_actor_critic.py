# SPDX-License-Identifier: Apache-2.0
"""torch_actor_critic.py [--graph] [--profile FILE [--cpu]] [--log] [--pause-before N...]: an actor-critic on
CartPole, eagerly, or with the update captured in a CUDA graph. --profile: the measured iterations under
torch.profiler, of the GPU, with --cpu of both sides. --log: says when each of them began."""
import argparse
import contextlib
import json
import time

import torch
from cartpole_numpy import CartPoles
from iteration_log import IterationLog

try:
    import gpubound
except ImportError:  # a plain program
    gpubound = None

ENVIRONMENTS, STEPS, WARM_UP, GAMMA = 64, 16, 5, 0.99


def operation(name):
    return gpubound.operation(name) if gpubound else contextlib.nullcontext()


class ActorCritic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 128), torch.nn.Tanh(),
                                        torch.nn.Linear(128, 128), torch.nn.Tanh())
        self.policy = torch.nn.Linear(128, 2)
        self.value = torch.nn.Linear(128, 1)

    def forward(self, states):
        hidden = self.body(states)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


class Learner:
    def __init__(self, use_graph):
        torch.manual_seed(1)
        self.net = ActorCritic().cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3, capturable=True)
        batch = STEPS * ENVIRONMENTS
        self.states = torch.zeros(batch, 4, device="cuda")
        self.actions = torch.zeros(batch, dtype=torch.long, device="cuda")
        self.returns = torch.zeros(batch, device="cuda")
        self.graph = self.capture() if use_graph else None

    def update(self):
        logits, values = self.net(self.states)
        chosen = torch.log_softmax(logits, 1).gather(1, self.actions[:, None]).squeeze(1)
        advantage = self.returns - values
        loss = advantage.square().mean() - (chosen * advantage.detach()).mean()
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        self.optimizer.step()

    def capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.update()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.update()
        return graph

    def learn(self, states, actions, returns):
        self.states.copy_(states)
        self.actions.copy_(actions)
        self.returns.copy_(returns)
        if self.graph is None:
            self.update()
        else:
            self.graph.replay()


def iterate(learner, poles):
    states, actions, rewards, ends = [], [], [], []
    for _ in range(STEPS):
        with operation("inference"), torch.no_grad():
            state = torch.from_numpy(poles.state).cuda()
            logits, _ = learner.net(state)
            action = torch.distributions.Categorical(logits=logits).sample()
            chosen = action.cpu().numpy()
        with operation("simulation"):
            _, reward, fallen = poles.step(chosen)
        states.append(state)
        actions.append(action)
        rewards.append(torch.from_numpy(reward))
        ends.append(torch.from_numpy(fallen))
    with operation("backpropagation"):
        total, returns = torch.zeros(ENVIRONMENTS), []
        for reward, end in zip(reversed(rewards), reversed(ends)):
            total = reward + GAMMA * total * ~end
            returns.insert(0, total)
        learner.learn(torch.cat(states), torch.cat(actions), torch.cat(returns))
        torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--profile")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--pause-before", type=int, nargs="*", default=())
    options = parser.parse_args()
    log = IterationLog(options.pause_before)
    learner, poles = Learner(options.graph), CartPoles(ENVIRONMENTS)
    for _ in range(WARM_UP):
        iterate(learner, poles)
    profiler = contextlib.nullcontext()
    if options.profile:
        activity = torch.profiler.ProfilerActivity
        profiler = torch.profiler.profile(
            activities=[activity.CUDA, *([activity.CPU] if options.cpu else [])])
    with profiler:
        if gpubound:
            gpubound.phase("measured")
        began = time.perf_counter()
        for _ in range(options.iterations):
            log.begin()
            iterate(learner, poles)
            if gpubound:
                gpubound.step(env_steps=STEPS * ENVIRONMENTS)
        took = time.perf_counter() - began
        if gpubound:
            gpubound.phase("afterwards")
    if options.profile:
        profiler.export_chrome_trace(options.profile)
    print(json.dumps({"ms_per_iteration": took * 1000 / options.iterations,
                      "iterations": options.iterations}))
    if options.log:
        log.say()


if __name__ == "__main__":
    main()
