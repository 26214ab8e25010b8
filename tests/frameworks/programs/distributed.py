# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on CPU, for torchrun: prints the rank and the weights that it ends with.
Arguments: iterations."""
import sys

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    total = torch.ones(1)
    dist.all_reduce(total)
    assert total == dist.get_world_size()
    dist.barrier()
    dist.monitored_barrier()
print(f"{rank}: {model.module.weight.tolist()}\n", end="", flush=True)
dist.destroy_process_group()
