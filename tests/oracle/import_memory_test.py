#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Importing is bounded in memory: a Chrome trace of several times the size takes about as much.

    import_memory_test.py GPUBOUND SMALL LARGE ALLOWED     megabytes: of two traces, and of growth

Traces are as Kineto writes them: operations and calls of two threads, then all kernels, so that no
kernel lies near its launch. What sorts events may hold some of 32 MB each, which a trace of 400 MB
fills; from there on nothing is left that may grow.
"""
import os
import sys
import tempfile

CPU = (
    '{"ph":"X","cat":"user_annotation","name":"train","pid":7,"tid":%(tid)d,"ts":%(ts)d.000,"dur":40.000},\n'
    '{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":7,"tid":%(tid)d,"ts":%(ts)d.125,"dur":30.5,'
    '"args":{"External id":%(id)d,"Sequence number":%(id)d,"Fwd thread id":0}},\n'
    '{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":7,"tid":%(tid)d,"ts":%(ts)d.250,"dur":25.5,'
    '"args":{"External id":%(id)d,"Input Dims":"[[64, 128], [128, 256]]"}},\n'
    '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":%(tid)d,"ts":%(ts)d.500,'
    '"dur":6.25,"args":{"cbid":211,"correlation":%(id)d}},\n')
KERNEL = (
    '{"ph":"X","cat":"kernel","name":"ampere_sgemm_128x64_tn","pid":0,"tid":7,"ts":%(ts)d.750,'
    '"dur":28.125,"args":{"device":0,"context":1,"stream":7,"correlation":%(id)d,'
    '"grid":[64,1,1],"block":[128,1,1]}},\n')


def write_trace(path, least_bytes):
    one = {"tid": 7, "ts": 1000000000, "id": 1000000}
    events = least_bytes // len(CPU % one + KERNEL % one)
    with open(path, "w", encoding="ascii") as file:
        file.write('{"schemaVersion":1,"traceEvents":[\n')
        for form in (CPU, KERNEL):
            for first in range(0, events, 1000):
                file.write("".join(
                    form % {"tid": 7 + i % 2, "ts": 1000000000 + 25 * i, "id": 1000000 + i}
                    for i in range(first, min(first + 1000, events))))
        file.write('{"ph":"M","name":"process_name","pid":7,"args":{"name":"python"}}]}\n')
    return os.path.getsize(path)


def peak_bytes(gpubound, trace, run):
    """Not less than this program itself has, which keeps little."""
    pid = os.spawnv(os.P_NOWAIT, gpubound, [gpubound, "import", trace, "-o", run])
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"import of {trace} ended with status {status}")
    return used.ru_maxrss * 1024


def main():
    gpubound = sys.argv[1]
    *sizes, allowed = (float(argument) for argument in sys.argv[2:5])
    peaks = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            written = write_trace(trace, int(size * 1e6))
            peaks.append(peak_bytes(gpubound, trace, os.path.join(folder, "run.gpubound")) / 1e6)
        print(f"{written / 1e6:.0f} MB: peak of {peaks[-1]:.0f} MB", flush=True)
    growth = peaks[1] - peaks[0]
    if growth > allowed:
        sys.exit(f"importing grew by {growth:.0f} MB with the trace; {allowed:.0f} are allowed")


if __name__ == "__main__":
    main()
