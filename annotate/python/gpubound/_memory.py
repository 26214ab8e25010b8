# SPDX-License-Identifier: Apache-2.0
"""How much GPU memory PyTorch's caching allocator holds, and how much of that tensors take: counters at the
ends of iterations.

NVML sees what all processes took from a device. What the allocator of this process took and keeps, and what
of it is in use, its public statistics say (torch.cuda.memory_stats(), of the current device). They are read
ten times a second at most, and only once the program itself has used CUDA: asking before would initialise
it.
"""
import time
from typing import Any

from gpubound import _api, _core, _failures

# Counter, and the statistic that it is.
_STATISTICS = {
    "torch_allocated_bytes": "allocated_bytes.all.current",
    "torch_peak_allocated_bytes": "allocated_bytes.all.peak",  # since the program last reset it
    "torch_reserved_bytes": "reserved_bytes.all.current",
}
_APART_S = 0.1


def install(torch: Any) -> None:
    """For _startup: from now on, iterations that end are followed by what the allocator of `torch` says."""
    read_after = 0.0

    def read() -> None:
        nonlocal read_after
        now = time.monotonic()
        if now < read_after:
            return
        read_after = now + _APART_S
        if not torch.cuda.is_initialized():
            return
        statistics = torch.cuda.memory_stats()
        for counter, name in _STATISTICS.items():
            if name in statistics:  # other allocators have none
                _core.counter(counter, statistics[name])

    _api.after_iterations.append(lambda: _failures.attempt(None, "memory of torch", read))
