#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random Chrome traces through gpubound and brute force: random_import.py GPUBOUND COUNT [SEED].

Times are small whole and half nanoseconds, so that ties, partial overlaps, touching intervals and
intervals of no length are the rule; some end before they begin, or nobody knows when. Of several
processes some are short, and there are copies between devices. Events may come as a begin and an end.
Prints the seed; keeps the trace that shows a difference.
"""
import json
import pathlib
import random
import sys
import tempfile

import import_oracle

API = ["cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy", "cudaStreamSynchronize", "hipFree",
       "cuMemcpyHtoDAsync_v2"]
OPERATIONS = ["train", "inference", "simulation", "nccl:all_reduce", "XlaModule:#step"]


def decimal_of(half_nanoseconds):
    """Microseconds, as they would be written."""
    digits = f"{abs(half_nanoseconds) * 5:05d}"
    return f"{'-' * (half_nanoseconds < 0)}{digits[:-4]}.{digits[-4:]}"


def cpu_event(rng, pids, stray_steps, api):
    category, names = rng.choice([
        ("user_annotation", OPERATIONS + ["ProfilerStep#4"] * stray_steps), ("cpu_op", ["aten::add", "aten::mul"]),
        ("python_function", ["f", "g"]), ("cuda_runtime", api), ("cuda_driver", api)])
    event = {"ph": "X", "cat": category, "name": rng.choice(names), "pid": rng.choice(pids),
             "tid": rng.randint(1, 3)}
    if category.startswith("cuda"):
        event["args"] = {"correlation": rng.randint(0, 13)}
    return event


def gpu_event(rng):
    category, name = rng.choice([("kernel", "gemm"), ("kernel", "ncclDevKernel_Broadcast"),
                                 ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
                                 ("gpu_memcpy", "Memcpy PtoP (Device -> Device)"),
                                 ("gpu_memset", "Memset (Device)")])
    correlation = rng.choice([int, int, str])(rng.randint(0, 14))
    event = {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7,
             "args": {"device": rng.randint(0, 2), "stream": rng.randint(7, 8), "correlation": correlation}}
    if "PtoP" in name:
        del event["args"]["device"]
        ends = [rng.randint(0, 2), rng.randint(0, 2)]
        event["args"].update({"fromDevice": ends[0], "toDevice": ends[1],
                              "inDevice": rng.choice(ends)})
    return event


def iterations(rng, pids):
    """Iterations of one process that follow each other, some with time between; other threads may
    tell them too."""
    pid, tids = rng.choice(pids), rng.sample([1, 2, 3], rng.randint(1, 2))
    start, steps = rng.randint(2, 40), []
    for number in range(rng.randint(0, 5)):
        # Whole nanoseconds, which no rounding makes overlap.
        start, length = start + rng.choice([0, 0, rng.randint(1, 10)]), rng.randint(1, 15)
        steps += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": pid,
                   "tid": tid, "ts": decimal_of(2 * start), "dur": decimal_of(2 * length)}
                  for tid in tids]
        start += length
    return steps


def is_gpu(event):
    return "stream" in event.get("args", {})


def draw_times(rng, event, spans, taken):
    """When |event| is, within its process's span of |spans|. Of calls with one id that begin and end
    together none comes first, so there are no such calls."""
    first, last = (2, 80) if is_gpu(event) else spans[event["pid"]]
    while True:
        start, length = rng.randint(first, last), rng.randint(0, 40)
        if not rng.randrange(30):
            length = -rng.randint(1, 5)
        call = (event["pid"], event.get("args"), (start + 1) // 2, (length + 1) // 2)
        if is_gpu(event) or repr(call) not in taken:
            taken.add(repr(call))
            return start, length


def as_begin_and_end(rng, event, start, length):
    """|event| as lines: mostly one. Calls stay whole, lest two with one id begin and end together."""
    begin = {**event, "ts": decimal_of(start)}
    end_time = decimal_of(start + length) if rng.randrange(20) else '"?"'
    if rng.randrange(8) or event["cat"].startswith("cuda"):
        return [{**begin, "dur": decimal_of(length) if end_time != '"?"' else end_time}]
    end = {"ph": "E", "pid": event["pid"], "tid": event["tid"], "ts": end_time}
    return [{**begin, "ph": "B"}] + [end] * rng.choice([0, 1, 1, 1, 1, 2])


def line_of(event):
    """JSON with the decimals of times as they are."""
    times = ", ".join(f'"{key}": {event[key]}' for key in ("ts", "dur") if key in event)
    rest = {key: value for key, value in event.items() if key not in ("ts", "dur")}
    return json.dumps(rest)[:-1] + ", " + times + "}"


def random_trace(rng):
    pids = rng.choice([[5], [5], [5, 6], [5, 6], [4, 5, 6], [0, 5]])
    spans = {pid: rng.choice([(2, 80), (2, 20), (40, 60)]) for pid in pids}
    stray_steps = not rng.randrange(4)
    api = rng.choice([API, ["cudaLaunchKernel"]])  # alike in all processes, as merged ranks are
    events = [cpu_event(rng, pids, stray_steps, api) for _ in range(max(0, rng.randint(-2, 40)))]
    events += [gpu_event(rng) for _ in range(rng.randint(0 if events else 1, 12))]
    lines = []
    taken = set()
    for event in events:
        rng.shuffle(keys := list(event))
        event = {key: event[key] for key in keys}
        start, length = draw_times(rng, event, spans, taken)
        if not lines:  # one event is of use
            lines.append(line_of({**event, "ts": decimal_of(start), "dur": decimal_of(abs(length))}))
            continue
        place = rng.randint(1, len(lines)) if rng.randrange(2) else len(lines)
        for part in as_begin_and_end(rng, event, start, length):
            lines.insert(place, line_of(part))
            place = rng.randint(place + 1, len(lines))
    if lines:
        lines[1:1] = map(line_of, [] if stray_steps else iterations(rng, pids))
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
