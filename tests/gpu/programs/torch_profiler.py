# SPDX-License-Identifier: Apache-2.0
"""torch_profiler.py later|first N: profiles N kernels with torch.profiler, after N without it, or
from before CUDA is initialised. Says how many kernels the profiler saw."""
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile

order, kernels = sys.argv[1], int(sys.argv[2])


def run_kernels():
    value = torch.zeros(8, device="cuda")
    for _ in range(kernels):
        value.add_(1)
    torch.cuda.synchronize()


if order == "later":
    run_kernels()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    run_kernels()
seen = sum(1 for event in profiler.events()
           if event.device_type == torch.autograd.DeviceType.CUDA and "elementwise" in event.name)
print(json.dumps({"profiled": seen}))
