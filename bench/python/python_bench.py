#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of Python scopes and wrapped calls as ratios to an empty context manager in C, measured side
by side in one process, once under a collector and once without. Exits 1 where a goal is missed, and
where a measurement fails; --quick measures little and has no goals.

nvtx.annotate is measured too where the package is installed (pip install nvtx==0.2.13).
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time

ROUNDS = 11
CALLS = 400_000

# Largest ratio to the empty context manager, by (case, floor), with and without a collector.
GOALS = {True: {"operation": ("empty", 1.35), "kept operation": ("kept empty", 1.20)},
         False: {"operation": ("empty", 1.10), "kept operation": ("kept empty", 1.10)}}
WRAPPER_GOAL_NS = 60.0
EXCHANGE_GOAL_NS = 250.0  # of a message written and read: under 5 % of what it costs


def cases():
    """Functions that run their subject once per item, by name."""
    import gpubound
    from empty_scope import EmptyScope
    from gpubound import _core

    kept_empty, kept = EmptyScope("x"), gpubound.operation("x")
    native, wrapped = len, _core.wrap(len, gpubound.layer("backend", "len").label, False)
    sized = ()

    def empty(items):
        for _ in items:
            with EmptyScope("x"):
                pass

    def empty_kept(items):
        for _ in items:
            with kept_empty:
                pass

    def operation(items):
        for _ in items:
            with gpubound.operation("x"):
                pass

    def operation_kept(items):
        for _ in items:
            with kept:
                pass

    def call(items):
        for _ in items:
            native(sized)

    def wrapped_call(items):
        for _ in items:
            wrapped(sized)

    from multiprocessing.connection import Connection, Pipe
    from gpubound import _waits
    near, far = Pipe()
    write = _waits.watch(Connection._send_bytes, "write", True, {"channel": "written"})
    read = _waits.watch(Connection._recv_bytes, "read", True,
                        {"layer": "wait", "peer": "connection"})

    def exchange(items, write=Connection._send_bytes, read=Connection._recv_bytes):
        for _ in items:
            write(near, b"x")
            read(far)

    found = {"exchange": exchange, "hooked exchange": lambda items: exchange(items, write, read),
             "empty": empty, "operation": operation, "kept empty": empty_kept,
             "kept operation": operation_kept, "native call": call, "wrapped call": wrapped_call}
    try:
        import nvtx
    except ImportError:
        return found

    def annotate(items):
        for _ in items:
            with nvtx.annotate("x"):
                pass
    return {**found, "nvtx.annotate": annotate}


def measure(quick):
    """ns of CPU time per turn of each case, in its least disturbed round; the cases take turns, so
    that all meet the same machine."""
    subjects = cases()
    taken = {name: [] for name in subjects}
    for _ in range(1 if quick else ROUNDS):
        for name, subject in subjects.items():
            begin = time.thread_time_ns()
            calls = (CALLS // 20 if "exchange" in name else CALLS) // (100 if quick else 1)
            subject(itertools.repeat(None, calls))
            taken[name].append((time.thread_time_ns() - begin) / calls)
    return {name: min(values) for name, values in taken.items()}


def report(recording, quick):
    """Prints a table; returns how many goals were missed."""
    ns = measure(quick)
    missed = 0
    print(f"Python {sys.version.split()[0]}, {'under' if recording else 'without'} a collector")
    for name, value in ns.items():
        floor = "kept empty" if name == "kept operation" else "empty"
        line = f"  {name:16} {value:7.1f} ns   {value / ns[floor]:.2f} x {floor}"
        if name in GOALS[recording]:
            floor, goal = GOALS[recording][name]
            met = value <= goal * ns[floor]
            missed += not met
            line += f"   goal {goal:.2f}: {'met' if met else 'MISSED'}"
        print(line)
    extra = ns["wrapped call"] - ns["native call"]
    missed += extra > WRAPPER_GOAL_NS
    print(f"  a wrapper adds {extra:.1f} ns   goal {WRAPPER_GOAL_NS:.0f}: "
          f"{'met' if extra <= WRAPPER_GOAL_NS else 'MISSED'}")
    extra = ns["hooked exchange"] - ns["exchange"]
    missed += extra > EXCHANGE_GOAL_NS
    print(f"  hooks add {extra:.1f} ns to a message written and read   goal {EXCHANGE_GOAL_NS:.0f}: "
          f"{'met' if extra <= EXCHANGE_GOAL_NS else 'MISSED'}")
    return 0 if quick else missed


def run_child(arguments, prefix):
    environment = {**os.environ, "PYTHONPATH": f"{arguments.package}:{arguments.floor}"}
    measurement = [sys.executable, __file__, "--measure", *(["--quick"] if arguments.quick else [])]
    return subprocess.run([*prefix, *measurement], env=environment, check=False).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", help="the gpubound command")
    parser.add_argument("--package", help="folder that holds the package gpubound")
    parser.add_argument("--floor", help="folder that holds empty_scope.so")
    parser.add_argument("--measure", action="store_true", help="measure in this process")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    arguments = parser.parse_args()
    if arguments.measure:
        import gpubound
        return 1 if report(gpubound.recording(), arguments.quick) else 0
    with tempfile.TemporaryDirectory() as scratch:
        prefix = [arguments.command, "run", "-q", "-o", f"{scratch}/bench.gpubound", "--"]
        missed = run_child(arguments, prefix) + run_child(arguments, [])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
