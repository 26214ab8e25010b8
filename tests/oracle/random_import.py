#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random Chrome traces through gpubound and brute force: random_import.py GPUBOUND COUNT [SEED].

Times are small whole and half nanoseconds, so that ties, partial overlaps, touching intervals and
intervals of no length are the rule. Prints the seed; keeps the trace that shows a difference.
"""
import json
import pathlib
import random
import sys
import tempfile

import import_oracle

API = ["cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy", "cudaStreamSynchronize", "hipFree",
       "cuMemcpyHtoDAsync_v2"]
OPERATIONS = ["train", "inference", "simulation", "nccl:all_reduce", "ProfilerStep#4"]


def decimal_of(half_nanoseconds):
    """Microseconds, as they would be written."""
    digits = f"{half_nanoseconds * 5:05d}"
    return f"{digits[:-4]}.{digits[-4:]}"


def cpu_event(rng, pids):
    category, names = rng.choice([
        ("user_annotation", OPERATIONS), ("cpu_op", ["aten::add", "aten::mul"]),
        ("python_function", ["f", "g"]), ("cuda_runtime", API), ("cuda_driver", API)])
    event = {"ph": "X", "cat": category, "name": rng.choice(names), "pid": rng.choice(pids),
             "tid": rng.randint(1, 3)}
    if category.startswith("cuda"):
        event["args"] = {"correlation": rng.randint(0, 13)}
    return event


def gpu_event(rng):
    category, name = rng.choice([("kernel", "gemm"), ("kernel", "ncclDevKernel_Broadcast"),
                                 ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
                                 ("gpu_memset", "Memset (Device)")])
    correlation = rng.choice([int, int, str])(rng.randint(0, 14))
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7,
            "args": {"device": rng.randint(0, 1), "stream": 7, "correlation": correlation}}


def draw_times(rng, event, taken):
    """When |event| is. Of calls with one id that begin and end together none comes first, so there
    are no such calls."""
    while True:
        start, length = rng.randint(2, 80), rng.randint(0, 40)
        call = (event["pid"], event.get("args"), (start + 1) // 2, (length + 1) // 2)
        if "device" in event.get("args", {}) or repr(call) not in taken:
            taken.add(repr(call))
            return start, length


def random_trace(rng):
    pids = rng.choice([[5], [5], [5, 6], [0, 5]])
    events = [cpu_event(rng, pids) for _ in range(max(0, rng.randint(-2, 40)))]
    events += [gpu_event(rng) for _ in range(rng.randint(0 if events else 1, 12))]
    lines = []
    taken = set()
    for event in events:
        rng.shuffle(keys := list(event))
        event = {key: event[key] for key in keys}
        start, length = draw_times(rng, event, taken)
        times = f'"ts": {decimal_of(start)}, "dur": {decimal_of(length)}'
        lines.append(json.dumps(event)[:-1] + ", " + times + "}")
    text = '{"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n"
    if rng.randrange(4):
        return text
    whole = text.index("},\n" if len(lines) > 1 else "}\n") + 1
    return text[:rng.randint(whole, len(text))]


def main():
    gpubound, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / f"random-{seed}-{number}.json"
            file.write_text(random_trace(random.Random(f"{seed} {number}")))
            if not import_oracle.check(gpubound, file):
                kept = pathlib.Path.cwd() / file.name
                kept.write_text(file.read_text())
                print(f"kept {kept}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
