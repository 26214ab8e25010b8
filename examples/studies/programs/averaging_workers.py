#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four workers balance poles in real time and learn from it together, over a network that is made for them (links.py):
averaging_workers.py CLOCKS ITERATIONS JOB... They average their gradients by torch.distributed with gloo, or send them
to a server that applies each when it comes (asynchronous SGD). Jobs are JSON objects with the fields of `Job`; they run
one after the other, each with new processes.

Workers and server keep clocks of their own, of CLOCK_MONOTONIC as the recorder's are. The file CLOCKS has them as JSON,
by the name of the job: `ranks`, of each its `pid`, when it `began` and the ends of its `iterations`, and its `averages`
(stage, members, when it came, began to wait, and left) or `exchanges` (when it came, had sent, and left), but of a
server `sends` (to whom, and when), and `behind` and `gaps` of the gradients in the order in which they were applied;
and `network`, what the exchange of packets counted.
"""
import dataclasses
import datetime
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import threading
import traceback
from time import monotonic_ns, sleep

import torch
import torch._dynamo  # optimizers import it when they are made: once, and not in each worker
import torch.distributed as dist
from torch import nn

import gpubound
import links

WORKERS, POLES, STEPS, PERIOD_S = 4, 16, 4, 0.005
RATE, MOMENTUM = 0.05, 0.9
LATE = 2  # the worker whose environment is slow; the link that may be slow is the last one's
GRID = (((0, 1), (2, 3)), ((0, 2), (1, 3)))  # whoever averages in rows, then in columns, has the mean of all


@dataclasses.dataclass
class Job:
    name: str
    delay_ms: float = 0  # between any two processes, one way
    far_ms: float = 0  # what the link of the last worker takes more, one way
    loss: float = 0  # share of packets that get lost
    kilobytes_per_s: float = 0  # of each link, in each direction; 0: no limit
    late_ms: float = 0  # what the environments of one worker take more in an iteration
    gradients: int = 1  # of each worker for an average
    grid: bool = False  # average in rows and columns of a square
    server: str = ""  # no average, but a server: "nesterov" or "dana", which is its momentum


class Poles:
    """Environments that run at the pace of the world, as robots do."""

    def __init__(self, late_s):
        self.state, self.late_s = torch.zeros(POLES, 2), late_s / STEPS

    def step(self, right):
        with gpubound.operation("simulation"):
            sleep(PERIOD_S + self.late_s)
            angle, speed = self.state.unbind(1)
            speed = speed + (angle * 9.8 + 16 * right - 8) * PERIOD_S
            angle = angle + speed * PERIOD_S
            fell = angle.abs() > 0.5
            self.state = torch.stack((angle, speed), 1) * ~fell.unsqueeze(1) + 0.05 * torch.randn(POLES, 2) * \
                fell.unsqueeze(1)
            return -angle.abs() - fell.float()


def new_policy():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 2))


def learn(policy, poles):
    """Adds the gradient of a short rollout, by REINFORCE, to those that the policy has."""
    seen, done, rewards = [], [], []
    for _ in range(STEPS):
        with gpubound.operation("inference"), torch.no_grad():
            seen.append(poles.state)
            done.append(torch.distributions.Categorical(logits=policy(poles.state)).sample())
        rewards.append(poles.step(done[-1].float()))
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    with gpubound.operation("gradient"):
        chosen = torch.distributions.Categorical(logits=policy(torch.stack(seen))).log_prob(torch.stack(done))
        (-chosen * (returns - returns.mean()) / (returns.std() + 1e-6)).mean().backward()


def gradients_of(policy):
    return torch.cat([parameter.grad.flatten() for parameter in policy.parameters()])


def take(vector, tensors):
    """Writes the values of a vector into tensors, one after the other."""
    for tensor, values in zip(tensors, vector.split([tensor.numel() for tensor in tensors])):
        tensor.copy_(values.view_as(tensor))


# --- Averaging ---

def average_iterations(rank, iterations, job):
    """By each worker: so many gradients, then their mean over all workers."""
    groups = [[(members, dist.new_group(list(members))) for members in stage] for stage in GRID] \
        if job.grid else [[(tuple(range(WORKERS)), dist.group.WORLD)]]
    policy, clocks = new_policy(), {"iterations": [], "averages": []}
    optimizer = torch.optim.SGD(policy.parameters(), lr=RATE)
    torch.manual_seed(rank)
    poles = Poles(job.late_ms / 1000 if rank == LATE else 0)
    dist.barrier()
    clocks["began"] = monotonic_ns()
    for _ in range(iterations):
        optimizer.zero_grad()
        for _ in range(job.gradients):
            learn(policy, poles)
        with gpubound.operation("average"):
            mean = gradients_of(policy) / job.gradients
            for stage, of_stage in enumerate(groups):
                for members, group in of_stage:
                    if rank in members:
                        came = monotonic_ns()
                        work = dist.all_reduce(mean, group=group, async_op=True)
                        waits = monotonic_ns()
                        work.wait()
                        clocks["averages"].append([stage, list(members), came, waits, monotonic_ns()])
                        mean /= len(members)
            take(mean, [parameter.grad for parameter in policy.parameters()])
        optimizer.step()
        gpubound.step(samples=job.gradients)
        clocks["iterations"].append(monotonic_ns())
    dist.barrier()
    return clocks


# --- The server of asynchronous SGD ---

class Server:
    """Weights, and momentum by Nesterov: one for all workers, or one for each, as DANA-Zero has it. Either way a worker
    is sent the weights as momentum would move them on."""

    def __init__(self, dana):
        self.weights = nn.utils.parameters_to_vector(new_policy().parameters()).detach()
        self.momenta = torch.zeros(WORKERS if dana else 1, len(self.weights))
        self.sent = [(0, self.weights)] * (WORKERS + 1)
        self.version, self.lock = 0, threading.Lock()
        self.clocks = {"behind": [], "gaps": [], "sends": []}
        gpubound.policy_version(0)

    def apply(self, rank, gradient, version):
        """Applies the gradient of a worker. The weights for it, and their version."""
        with self.lock, gpubound.operation("update"):
            of = self.momenta[(rank - 1) % len(self.momenta)]
            gap = (self.weights - self.sent[rank][1]).square().mean().sqrt().item()
            gpubound.consumed(samples=1, version=version)
            gpubound.metric("gap", gap)
            self.clocks["behind"].append(self.version - version)
            self.clocks["gaps"].append(gap)
            of.mul_(MOMENTUM).add_(gradient)
            self.weights = self.weights - RATE * of
            self.version += 1
            gpubound.policy_version(self.version)
            self.sent[rank] = self.version, self.weights - RATE * MOMENTUM * self.momenta.sum(0)
            return self.sent[rank]

    def serve(self, rank, iterations):
        """By a thread for each worker."""
        message = torch.empty(len(self.weights) + 1)
        for _ in range(iterations):
            dist.recv(message, src=rank)
            version, weights = self.apply(rank, message[1:], int(message[0]))
            answer = torch.cat((torch.tensor([float(version)]), weights))
            self.clocks["sends"].append([rank, monotonic_ns()])
            dist.send(answer, dst=rank)


def serve_all(_, iterations, job):
    server = Server(job.server == "dana")
    dist.barrier()
    threads = [threading.Thread(target=server.serve, args=(rank, iterations)) for rank in range(1, WORKERS + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dist.barrier()
    return server.clocks


def exchange_iterations(rank, iterations, _):
    """By each worker: a gradient for the server, and its weights."""
    policy, clocks, version = new_policy(), {"iterations": [], "exchanges": []}, 0
    weights = list(policy.parameters())
    torch.manual_seed(rank)
    poles = Poles(0)
    message = torch.empty(1 + sum(parameter.numel() for parameter in weights))
    dist.barrier()
    clocks["began"] = monotonic_ns()
    for _ in range(iterations):
        policy.zero_grad()
        learn(policy, poles)
        with gpubound.operation("average"), torch.no_grad():
            gradient = torch.cat((torch.tensor([float(version)]), gradients_of(policy)))
            begin = monotonic_ns()
            dist.send(gradient, dst=0)
            sent = monotonic_ns()
            dist.recv(message, src=0)
            clocks["exchanges"].append([begin, sent, monotonic_ns()])
            version = int(message[0])
            take(message[1:], weights)
        gpubound.step(samples=1)
        clocks["iterations"].append(monotonic_ns())
    dist.barrier()
    return clocks


# --- Processes ---

def run_rank(rank, size, port, exchange, iterations, job, place):
    links.enter(rank, exchange.end_of(rank))
    os.environ.update(GLOO_SOCKET_IFNAME=links.INTERFACE, MASTER_ADDR=links.address(0), MASTER_PORT=str(port))
    torch.set_num_threads(1)
    try:
        dist.init_process_group("gloo", rank=rank, world_size=size,
                                timeout=datetime.timedelta(seconds=links.MOST_SECONDS))
        if not job.server:
            run = average_iterations
        else:
            run = exchange_iterations if rank > 0 else serve_all
        clocks = run(rank, iterations, job)
        dist.destroy_process_group()
    except Exception:
        traceback.print_exc()
        os.kill(os.getppid(), signal.SIGTERM)  # the others would wait for this one; they end with their parent
        raise
    (place / str(rank)).write_text(json.dumps({"pid": os.getpid(), **clocks}))


def run_job(number, iterations, job):
    """What its processes and its network have to say."""
    size = WORKERS + (1 if job.server else 0)
    delays_ns = [int(job.delay_ms / 2 * 1e6)] * size
    delays_ns[-1] += int(job.far_ms * 1e6)
    exchange = links.Exchange(delays_ns, job.loss, int(job.kilobytes_per_s * 1000), seed=number)
    context = multiprocessing.get_context("fork")  # torch is imported once
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        # A port of its own, by which gpubound numbers the collectives of a job apart from those of another.
        processes = [context.Process(target=run_rank, args=(rank, size, 29500 + number, exchange, iterations, job,
                     place)) for rank in range(size)]
        for process in processes:
            process.start()
        exchange.carry([process.sentinel for process in processes])
        for process in processes:
            process.join()
        return {"ranks": [json.loads((place / str(rank)).read_text()) for rank in range(size)],
                "network": exchange.counted()}


def main():
    place, iterations, *jobs = sys.argv[1:]
    lacking = links.missing()
    if lacking:
        sys.exit(f"averaging_workers.py: {lacking}")
    made = {}
    for number, job in enumerate(Job(**json.loads(text)) for text in jobs):
        made[job.name] = run_job(number, int(iterations), job)
    with open(place, "w") as file:
        json.dump(made, file)


if __name__ == "__main__":
    main()
