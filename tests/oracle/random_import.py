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


def cpu_event(rng, pids, unused_ids):
    category, names = rng.choice([
        ("user_annotation", OPERATIONS), ("cpu_op", ["aten::add", "aten::mul"]),
        ("python_function", ["f", "g"]), ("cuda_runtime", API), ("cuda_driver", API)])
    event = {"ph": "X", "cat": category, "name": rng.choice(names), "pid": rng.choice(pids),
             "tid": rng.randint(1, 3)}
    if category.startswith("cuda"):
        # Processes may use the same ids, a process uses each once.
        ids = unused_ids.setdefault(event["pid"], rng.sample(range(13), 13))
        event["args"] = {"correlation": ids.pop() if ids else 0}
    return event


def gpu_event(rng):
    category, name = rng.choice([("kernel", "gemm"), ("kernel", "ncclDevKernel_Broadcast"),
                                 ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
                                 ("gpu_memset", "Memset (Device)")])
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7,
            "args": {"device": rng.randint(0, 1), "stream": 7, "correlation": rng.randint(0, 14)}}


def random_trace(rng):
    pids = rng.choice([[5], [5], [5, 6], [0, 5]])
    unused_ids = {}
    events = [cpu_event(rng, pids, unused_ids) for _ in range(rng.randint(1, 40))]
    events += [gpu_event(rng) for _ in range(rng.randint(0, 12))]
    lines = []
    for event in events:
        rng.shuffle(keys := list(event))
        event = {key: event[key] for key in keys}
        times = f'"ts": {decimal_of(rng.randint(2, 80))}, "dur": {decimal_of(rng.randint(0, 40))}'
        lines.append(json.dumps(event)[:-1] + ", " + times + "}")
    return '{"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n"


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
