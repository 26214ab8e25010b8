#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle time of devices that lies before work which had been launched when the gap began, gap by gap,
as docs/report.md says it ("Why a device was idle"). Shares no code with gpubound.

queued_model.py FILE.json.gz...: prints of each Kineto trace how much that is of the idle time
between the first and the last work of each device.
"""
import collections
import gzip
import json
import math
import sys
from fractions import Fraction

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver", "hip_runtime")


def gaps(busy, unknown):
    """(begin, end) of the stretches between the first and the last interval that lie in none."""
    until, found = None, []
    for start, end in sorted([*busy, *unknown]):
        if until is not None and start > until:
            found.append((until, start))
        until = end if until is None else max(until, end)
    return found


def queued_gaps(work, calls, unknown=()):
    """The queued gaps of one device. |work|: (start, end, id, end of its launch call or None);
    |calls|: (start, id) of all calls."""
    lasting = [item for item in work if item[1] > item[0]]
    enders = collections.defaultdict(list)
    for start, _, correlation, launched in lasting:
        earlier = [other for begin, other in calls if begin <= start and other]
        if launched is None and correlation and earlier and correlation < min(earlier):
            launched = -math.inf
        enders[start].append(math.inf if launched is None else launched)
    return [(begin, end) for begin, end in gaps([item[:2] for item in lasting], unknown)
            if end in enders and min(enders[end]) <= begin]


def head(work, calls, span_begin, unknown=()):
    """The time before the first work, where that was launched before the trace."""
    lasting = [item for item in work if item[1] > item[0]]
    if not lasting:
        return []
    first = min(item[0] for item in lasting)
    ids = [item[2] for item in lasting if item[0] == first and item[3] is None and item[2]]
    earlier = [other for begin, other in calls if begin <= first and other]
    if not ids or not earlier or min(ids) >= min(earlier):
        return []
    # After unknown time it is a gap like any other, which queued_gaps() finds.
    found = gaps([(span_begin, span_begin), (first, first)], unknown)
    return [gap for gap in found if gap == (span_begin, first)]


def exact(number):
    """Nanoseconds, rounded half up."""
    return math.floor(Fraction(str(number)) * 1000 + Fraction(1, 2))


def read(path):
    """By device the work, and all calls, as above."""
    with gzip.open(path) as file:
        events = [e for e in json.load(file, parse_float=str)["traceEvents"] if e.get("ph") == "X"]
    calls = {}
    for event in events:
        if event.get("cat") in CALLS:
            start = exact(event["ts"])
            calls.setdefault(event["args"].get("correlation"), (start, start + exact(event["dur"])))
    work = collections.defaultdict(list)
    for event in events:
        if event.get("cat") in WORK:
            start, correlation = exact(event["ts"]), event["args"].get("correlation")
            work[event["args"]["device"]].append((start, start + exact(event["dur"]), correlation,
                                                  calls.get(correlation, (0, None))[1]))
    return work, [(start, correlation) for correlation, (start, _) in calls.items()]


def main():
    for path in sys.argv[1:]:
        work, calls = read(path)
        for device, items in sorted(work.items()):
            idle = gaps([item[:2] for item in items], [])
            queued = queued_gaps(items, calls)
            idle_ns = sum(end - begin for begin, end in idle)
            queued_ns = sum(end - begin for begin, end in queued)
            mean = queued_ns / len(queued) if queued else 0
            print(f"{path} device {device}: idle {idle_ns} ns in {len(idle)} gaps between the first and "
                  f"the last work, queued {queued_ns} ns in {len(queued)} gaps of {mean:.0f} ns: "
                  f"{100 * queued_ns / idle_ns if idle_ns else 0:.1f} %")


if __name__ == "__main__":
    main()
