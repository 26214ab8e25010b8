# SPDX-License-Identifier: Apache-2.0
"""The Python half of `gpubound calibrate`: repeats scopes and calls and says how long they took.

Run as a script, with the profiler and without; its argument, where it has one, is the path of the CUDA runtime to
use. The conversation is that of tools/calibrate/programs/workload.h: "run NAME COUNT" is answered by the ns of each
occurrence, or by these with other work after it and without, or by "no " and the reason.
"""
import ast
import base64
import collections
import csv
import datetime
import decimal
import fractions
import hashlib
import heapq
import itertools
import json
import math
import operator
import os
import pickle
import re
import resource
import statistics
import struct
import sys
import textwrap
import time
import types
import unicodedata
import zlib
from typing import NamedTuple

ATTEMPTS = 20
# Occurrences before those that are timed: the other program has had its turn, and a first one costs
# microseconds more.
WARM_UP = 8
RECORD = {"list": list(range(20)), "inner": {"text": "text" * 4, "numbers": [1.5, 2.5]}}
PACKED = zlib.compress(b"abc" * 30)
# Some 40 us of code that has nothing in common, as a program runs between calls of a framework. It
# drives what recording needs out of a core's nearest caches. None of it needs memory that malloc would
# ask the system for: whether that faults anew each time depends on what a process has freed before.
OTHER_WORK = (
    lambda: json.dumps(RECORD), lambda: json.loads('{"a": [1, 2, {"b": null}]}'),
    lambda: re.sub(r"\d+", "x", "a1b22c333"), lambda: decimal.Decimal("1.1") ** 3,
    lambda: zlib.decompress(PACKED), lambda: hashlib.sha256(b"x" * 200).digest(),
    lambda: datetime.datetime(2020, 1, 2).isoformat(),
    lambda: collections.Counter("abracadabra").most_common(2),
    lambda: "{:>10.3f}{!r}".format(1.5, "x"), lambda: fractions.Fraction(1, 3) + fractions.Fraction(2, 5),
    lambda: sorted(RECORD["list"], key=id), lambda: pickle.loads(pickle.dumps(RECORD)),
    lambda: base64.b64encode(b"hello" * 10), lambda: unicodedata.normalize("NFC", "\u00e9a"),
    lambda: list(csv.reader(["a,b,c"])), lambda: textwrap.dedent("  a\n  b"),
    lambda: heapq.nlargest(3, range(30)), lambda: ast.literal_eval("[1, 2]"),
    lambda: struct.unpack("<4d", bytes(32)), lambda: max(map(math.sqrt, range(20))))
# Between two calls: some 10 us, as eager PyTorch has between two launches. After TURNS calls each of
# OTHER_WORK was done once.
PIECES = 5
TURNS = len(OTHER_WORK) // PIECES


class Took(NamedTuple):
    """What one occurrence took, ns."""
    whole_ns: float  # with the other work behind it
    alone_ns: float  # without


def _without_own_folder():
    """Python puts a script's folder first; what is imported from there must be the package."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != own]
    sys.path.insert(0, os.path.dirname(own))


def workloads():
    """Functions that run their subject once per item, by name. They may return how long that took, in ns,
    where they do other things too."""
    import gpubound

    native = types.ModuleType("calibration")
    vars(native).update(call=len, between=callable)
    if gpubound.recording():
        gpubound.intercept(native, layer="backend", names=["call", "between"])
    sized = ()
    clock = time.perf_counter_ns
    others = itertools.cycle(OTHER_WORK)

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

    def clock_between():
        do_other_work(others)
        begin = clock()
        return clock() - begin

    def operation_between(items):
        took = 0
        for _ in items:
            do_other_work(others)
            begin = clock()
            with gpubound.operation("calibration operation between"):
                pass
            took += clock() - begin
            took -= clock_between()
        return took

    def call_between(items):
        function, took = native.between, 0
        for _ in items:
            do_other_work(others)
            begin = clock()
            function(sized)
            took += clock() - begin
            took -= clock_between()
        return took

    return {"empty": empty, "operation": operation, "call": call, "counter": counter,
            "operation_between": operation_between, "call_between": call_between}


def cuda_workload(cuda, name):
    """Calls of function `name` after other work. Raises LookupError."""
    import gpubound

    call = cuda.call(name)

    def between(items):
        cuda.wait()
        way = amid_other_work(call.nothing, call.arguments, 4 * TURNS)
        with gpubound.operation("calibration between"):  # which tells the recorded ones from waits
            took = amid_other_work(call.function, call.arguments, operator.length_hint(items))
        return Took(took.whole_ns, took.alone_ns - way.alone_ns)

    return between


def amid_other_work(function, arguments, count):
    """A call with other work around it, which recording makes longer, too: that finds less of its own in the
    nearest caches. Means of groups in which the same work is done, without the longest fiftieth, in which there was
    an interrupt. (Medians leave out that every so many calls memory is touched first: a fifth of the cost.)"""
    groups, clock = [], time.perf_counter_ns
    for _ in range(0, count, TURNS):
        pieces, alone_ns, first_ns = iter(OTHER_WORK), 0, clock()
        for _ in range(TURNS):
            begin_ns = clock()
            function(*arguments)
            alone_ns += clock() - begin_ns
            for work in itertools.islice(pieces, PIECES):
                work()
        groups.append(((clock() - first_ns) / TURNS, alone_ns / TURNS))
    groups.sort()
    del groups[len(groups) - max(1, len(groups) // 50):]
    return Took(*map(statistics.fmean, zip(*groups)))


def do_other_work(work):
    for piece in itertools.islice(work, PIECES):
        piece()


class Workloads:
    """Those that this interpreter knows, by name."""

    def __init__(self, runtime):
        """`runtime`: path of the CUDA runtime, empty for the one that the dynamic loader finds."""
        self._runtime, self._cuda, self._no_cuda = runtime, None, None
        self._found, self._problem = {}, "there is no such workload"
        try:
            self._found = workloads()
        except ImportError as error:
            self._problem = f"this interpreter cannot import gpubound: {error}".replace("\n", " ")

    def find(self, name):
        """Raises LookupError with the reason."""
        if self._found and name.startswith("cuda") and name not in self._found:
            self._found[name] = self._find_cuda(name)
        if name not in self._found:
            raise LookupError(self._problem)
        return self._found[name]

    def _find_cuda(self, name):
        from gpubound import _calibration_cuda
        if self._no_cuda is not None:
            raise self._no_cuda
        try:
            self._cuda = self._cuda or _calibration_cuda.Cuda(self._runtime)
        except _calibration_cuda.Unavailable as problem:
            self._no_cuda = problem
            raise
        return cuda_workload(self._cuda, name[:-len("_between")])


def answer(line, find):
    """The line that answers `line`; `find` is Workloads.find."""
    words = line.split()
    if len(words) != 3 or words[0] != "run" or not words[2].isdigit() or int(words[2]) == 0:
        return "no expected 'run NAME COUNT'"
    count = int(words[2])
    try:
        work = find(words[1])
    except LookupError as problem:
        return f"no {problem}"
    if count > 1:
        work(itertools.repeat(None, WARM_UP))
    told = undisturbed(work, count)
    if isinstance(told, Took):
        return f"{told.whole_ns:.3f} {told.alone_ns:.3f}"
    return f"{told / count:.3f}"


def context_switches():
    """How often this thread gave up or lost the processor so far."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_nivcsw + usage.ru_nvcsw


def undisturbed(work, count):
    """What `work` took, repeated while the scheduler takes the processor away from it; or what it tells that
    does not mind."""
    least = float("inf")
    for _ in range(ATTEMPTS):
        switches = context_switches()
        items = itertools.repeat(None, count)
        begin = time.perf_counter_ns()
        told = work(items)
        took = time.perf_counter_ns() - begin if told is None else told
        if isinstance(took, Took) or context_switches() == switches:
            return took
        least = min(least, took)
    return least


def main():
    _without_own_folder()
    known = Workloads(sys.argv[1] if len(sys.argv) > 1 else "")
    for line in sys.stdin:
        print(answer(line, known.find), flush=True)


if __name__ == "__main__":
    main()
