# SPDX-License-Identifier: Apache-2.0
"""The Python half of `gpubound calibrate`: repeats scopes and calls and says how long they took.

Run as a script, with the profiler and without. The conversation is that of
tools/calibration/workload.h: "run NAME COUNT" is answered by the ns of each occurrence, or by "no "
and the reason.
"""
import itertools
import os
import resource
import sys
import time
import types

ATTEMPTS = 20


def _without_own_folder():
    """Python puts a script's folder first; what is imported from there must be the package."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != own]
    sys.path.insert(0, os.path.dirname(own))


def workloads():
    """Functions that run their subject once per item, by name."""
    import gpubound

    native = types.ModuleType("calibration")
    native.call = len
    if gpubound.recording():
        gpubound.intercept(native, layer="backend", names=["call"])
    sized = ()

    def empty(items):
        for _ in items:
            pass

    def operation(items):
        for _ in items:
            with gpubound.operation("calibration operation"):
                pass

    def call(items):
        function = native.call
        for _ in items:
            function(sized)

    def counter(items):
        for _ in items:
            gpubound.counter("calibration counter", 1.0)

    return {"empty": empty, "operation": operation, "call": call, "counter": counter}


def answer(line, known, problem):
    """The line that answers `line`."""
    words = line.split()
    if len(words) != 3 or words[0] != "run" or not words[2].isdigit() or int(words[2]) == 0:
        return "no expected 'run NAME COUNT'"
    work, count = known.get(words[1]), int(words[2])
    if work is None:
        return "no " + (problem or "there is no such workload")
    return f"{undisturbed_ns(work, count) / count:.3f}"


def context_switches():
    """How often this thread gave up or lost the processor so far."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_nivcsw + usage.ru_nvcsw


def undisturbed_ns(work, count):
    """What `work` took, repeated while the scheduler takes the processor away from it."""
    least = float("inf")
    for _ in range(ATTEMPTS):
        switches = context_switches()
        items = itertools.repeat(None, count)
        begin = time.perf_counter_ns()
        work(items)
        took = time.perf_counter_ns() - begin
        if context_switches() == switches:
            return took
        least = min(least, took)
    return least


def main():
    _without_own_folder()
    known, problem = {}, ""
    try:
        known = workloads()
    except ImportError as error:
        problem = f"this interpreter cannot import gpubound: {error}".replace("\n", " ")
    for line in sys.stdin:
        print(answer(line, known, problem), flush=True)


if __name__ == "__main__":
    main()
