# SPDX-License-Identifier: Apache-2.0
"""A loop on the stand-in CUDA runtime in which two lines wait for the device, for known times, and one only
launches. Prints, as JSON, the seconds that each took by its own clock, by line. Arguments: for how many
seconds."""
import ctypes
import json
import sys
import time

import gpubound
from worker_kernels import CUDA, Dim3, KERNEL, check

SHORT = ctypes.create_string_buffer(1)
spent = {}


def launch(kernel, count):
    for _ in range(count):
        check(CUDA.cudaLaunchKernel(kernel, Dim3(4, 1, 1), Dim3(128, 1, 1), None, 0, None))


def note(line, seconds):
    spent[line] = spent.get(line, 0.0) + seconds


def timed(wait):
    begin = time.perf_counter()
    line = wait()
    note(line, time.perf_counter() - begin)


def wait_long():
    check(CUDA.cudaDeviceSynchronize())
    return sys._getframe().f_lineno - 1


def wait_short():
    check(CUDA.cudaDeviceSynchronize())
    return sys._getframe().f_lineno - 1


def only_launch():
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        launch(SHORT, 1)
    return launch.__code__.co_firstlineno + 2


def main(seconds):
    CUDA.gpubound_sim_register_kernel(KERNEL, b"worker_kernel", None, None, 0, 32, 0)
    CUDA.gpubound_sim_register_kernel(SHORT, b"short_kernel", None, None, 0, 32, 0)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        with gpubound.operation("rollout"):
            launch(KERNEL, 3)
            timed(wait_long)
        with gpubound.operation("update"):
            launch(KERNEL, 1)
            timed(wait_short)
            timed(only_launch)
        gpubound.step()


main(float(sys.argv[1]))
print(json.dumps(spent))
