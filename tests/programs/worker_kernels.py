#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worker processes that launch kernels on the stand-in CUDA runtime:
worker_kernels.py METHOD WORKERS LAUNCHES, METHOD as in multiprocessing.get_context. The library is
loaded where this file is imported, so in a fork server too; CUDA is used in the workers alone. With
METHOD subprocess they are programs of their own, with preexec likewise, each behind a fork that runs
Python; there this process uses CUDA first. With loader they are forked while this process launches, and
leave CUDA alone, as a data loader's. Prints {"workers": [pid, ...], "exit_codes": [...]}, "workers" being
all who launched kernels."""
import ctypes
import json
import multiprocessing
import os
import subprocess
import sys
import threading

CUDA = ctypes.CDLL("libcudart.so.13")
SUCCESS = 0
KERNEL = ctypes.create_string_buffer(1)  # whose address stands for the kernel


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


CUDA.gpubound_sim_register_kernel.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32,
    ctypes.c_uint32, ctypes.c_uint32]
CUDA.cudaLaunchKernel.argtypes = [
    ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def check(error):
    if error != SUCCESS:
        raise RuntimeError(f"CUDA error {error}")


def launch(count):
    CUDA.gpubound_sim_register_kernel(KERNEL, b"worker_kernel", None, None, 0, 32, 0)
    for _ in range(count):
        check(CUDA.cudaLaunchKernel(KERNEL, Dim3(4, 1, 1), Dim3(128, 1, 1), None, 0, None))
    check(CUDA.cudaDeviceSynchronize())


def run_programs(workers, launches, before_exec):
    launch(launches)
    command = [sys.executable, "-B", __file__, "launch", "1", str(launches)]
    programs = [subprocess.Popen(command, preexec_fn=before_exec) for _ in range(workers)]
    exit_codes = [program.wait() for program in programs]
    print(json.dumps({"workers": [os.getpid()] + [program.pid for program in programs],
                      "exit_codes": exit_codes}))


def load_beside_launches(workers, launches):
    launch(launches // 2)
    thread = threading.Thread(target=launch, args=(launches - launches // 2,))
    thread.start()
    context = multiprocessing.get_context("fork")
    loaders = [context.Process(target=sum, args=(range(10_000),)) for _ in range(workers)]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()
    thread.join()
    print(json.dumps({"workers": [os.getpid()], "exit_codes": [loader.exitcode for loader in loaders]}))


def main(method, workers, launches):
    if method == "launch":
        launch(launches)
        return
    if method in ("subprocess", "preexec"):
        run_programs(workers, launches, os.setsid if method == "preexec" else None)
        return
    if method == "loader":
        load_beside_launches(workers, launches)
        return
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=launch, args=(launches,)) for _ in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(json.dumps({"workers": [process.pid for process in processes],
                      "exit_codes": [process.exitcode for process in processes]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
