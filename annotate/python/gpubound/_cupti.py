# SPDX-License-Identifier: Apache-2.0
"""Gives CUPTI up to a profiler that finds it by itself.

CUPTI serves one tool at a time. A profiler that is linked with it is noticed by libgpubound.so when
it subscribes; one that looks it up in a library of its own (JAX) is not, so the call that starts it
is hooked.
"""
import os

_CORE = "libgpubound_core.so"


def yield_to(profiler: str) -> None:
    """Before `profiler` asks for CUPTI. Does nothing where this process does not hold it."""
    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    if os.path.basename(path) != _CORE:
        return
    try:
        import ctypes
        core = ctypes.CDLL(path, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
        core.gpubound_core_yield_v1(profiler.encode())
    except (ImportError, OSError, AttributeError):
        pass  # not loaded: CUDA was not used yet, and the profiler comes first
