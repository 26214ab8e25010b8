# SPDX-License-Identifier: Apache-2.0
"""Ranks of which one comes late to each collective: those that DistributedDataParallel starts within
backward(), and others. Each rank writes down when it came, and the last line of rank 0 says, as JSON, for
how long each pid waited for which, in nanoseconds. For torchrun. Arguments: turns, seconds of lateness, and
the backend (`gloo`, or `stored` of stored_group.py, which has no reduction within backward())."""
import importlib
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

turns, lateness, backend = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
if backend == "stored":
    importlib.import_module("stored_group")
dist.init_process_group(backend)
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = nn.Linear(8, 1)
if backend == "gloo":
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
came = []


def note(*_):
    """The rank is there."""
    came.append(time.monotonic_ns())


def be_late(turn):
    """One rank after the other is."""
    if rank == (len(came) + turn) % size:
        time.sleep(lateness)


def come(turn):
    be_late(turn)
    note()


def backward():
    """The rank is there when all its gradients are, just before it waits for the reduction."""
    loss = model(torch.randn(8, 8)).square().mean()
    loss.register_hook(lambda _: torch.autograd.Variable._execution_engine.queue_callback(note))
    loss.backward()


if backend == "gloo":
    backward()  # ranks begin when they have imported everything
note()
dist.barrier()
for i in range(turns):
    if backend == "gloo":
        optimizer.zero_grad()
        be_late(i)
        backward()
        optimizer.step()
    come(i)
    dist.all_reduce(torch.ones(1))
    come(i)
    work = dist.all_gather([torch.ones(1) for _ in range(size)], torch.ones(1), async_op=True)
    work.wait()
    come(i)
    dist.barrier()
note()
everybody = [None] * size
dist.all_gather_object(everybody, (os.getpid(), came))
truth = {str(pid): {} for pid, _ in everybody}
for times in zip(*(times for _, times in everybody)):
    last = max(range(size), key=lambda one: times[one])
    for one in range(size):
        if one == last:
            continue
        waited = truth[str(everybody[one][0])]
        awaited = str(everybody[last][0])
        waited[awaited] = waited.get(awaited, 0) + times[last] - times[one]
dist.destroy_process_group()
if rank == 0:
    print(f"\ntruth {json.dumps(truth)}", flush=True)
