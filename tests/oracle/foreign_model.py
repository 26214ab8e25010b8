# SPDX-License-Identifier: Apache-2.0
"""What a foreign trace is to the oracle, and how Chrome JSON (plain or gzip) is read.

Shares no code with gpubound and no library beyond Python's own. Everything is held in memory and
every number is a Fraction until it is nanoseconds.
"""
import codecs
import dataclasses
import fractions
import gzip
import json
import math
import pathlib
import re

from launch_model import assign

LAYERS = ["unset", "python", "wait", "native", "simulator", "backend", "cuda_sync", "cuda_api"]
SYNC = re.compile(r"(cuda|cu|hip)((Stream|Device|Ctx|Event|Thread)Synchronize|Memcpy(?!.*Async).*)$")
COPY = re.compile(r"(cuda|cu|hip)Memcpy.*Async.*$")
codecs.register_error("each byte", lambda error: ("\ufffd" * (error.end - error.start), error.end))
LIBRARY_RANGES = re.compile(
    r"(nccl:|## Call CompiledFxGraph|Torch-Compiled Region|TSL:|XlaModule:|cub::)", re.IGNORECASE)


@dataclasses.dataclass
class Event:
    """An interval on a thread. layer is None for operations, annotations and iterations."""
    start: int
    end: int
    order: int
    name: str
    layer: str = None
    operation: bool = False
    call: bool = False
    correlation: int = 0
    one_kernel: bool = False  # a call that launches one kernel and nothing else
    iteration: bool = False

    def key(self):
        """Outer intervals sort before those inside them."""
        return (self.start, -self.end, LAYERS.index(self.layer or "unset"), self.order)

    def holds(self, t):
        return self.start <= t < self.end


@dataclasses.dataclass
class Work:
    start: int
    end: int
    kind: str  # comm, compute, copy
    correlation: int
    pid: object = None
    device: int = 0
    ended: bool = True  # else it is not known how long it ran
    other_end: bool = False  # a copy keeps the device at its other end busy too
    stream: tuple = ()  # context and number on the device
    timed: bool = True  # else nobody knows when it ran


@dataclasses.dataclass
class Process:
    pid: int
    threads: dict = dataclasses.field(default_factory=dict)
    work: list = dataclasses.field(default_factory=list)
    base: str = "python"
    busiest_reports: bool = True
    unknown: list = dataclasses.field(default_factory=list)  # intervals of GPU time
    calls_nest: bool = True  # the innermost event decides; else any open wait does


@dataclasses.dataclass
class Trace:
    processes: list
    lost: int  # pieces of work that no process launched
    never_begun: int = 0  # ends of nothing
    cut_short: bool = False  # events may be missing
    incomplete_tables: int = 0
    launches_without_work: int = 0  # calls
    names_missing: int = 0  # of calls, ranges, kernels and domains


def nanoseconds(number):
    return math.floor(fractions.Fraction(number) * 1000 + fractions.Fraction(1, 2))


def strip_version(name):
    while True:
        shorter = re.sub(r"(?<=.)(_ptsz|_ptds|_v[0-9]+)$", "", name)
        if shorter == name:
            return name
        name = shorter


def call_layer(name):
    return "cuda_sync" if SYNC.match(strip_version(name)) else "cuda_api"


def launches_one_kernel(name):
    return bool(re.match(r"(cuda|cu|hip)Launch(?!HostFunc)(?!.*(Graph|Batch))", strip_version(name)))


def is_copy_call(name):
    return bool(COPY.match(strip_version(name)))


def comm_patterns():
    path = pathlib.Path(__file__).resolve().parents[2] / "analysis/trace/data/comm_kernels.txt"
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("# ") and line != "#"]


def kernel_class(name, patterns):
    head = re.split(r"[<(]", name)[0]
    for pattern in patterns:
        anchored = pattern.startswith("^")
        expression = re.escape(pattern.lstrip("^")).replace(r"\*", ".*") + r"\Z"
        starts = [0]
        if not anchored:
            starts += [i for i in range(1, len(head)) if head[i - 1] in " :" or
                       (head.lower().startswith("_z") and head[i - 1].isdigit())]
        if any(re.match(expression, name[i:], re.IGNORECASE | re.DOTALL) for i in starts):
            return "comm"
    return "compute"


def correlation_of(args):
    value = args.get("correlation", "0")
    return int(value) if re.fullmatch(r"[0-9]+", str(value)) and 0 < int(value) < 2**32 else 0


class Number(str):
    """A number as it is written."""


def parse(text, decode=json.JSONDecoder.decode):
    return decode(json.JSONDecoder(parse_float=Number, parse_int=Number, strict=False), text)


def string_as_written(match):
    """A string whose escapes mean nothing is what stands between its quotes."""
    token = match.group(0)
    try:
        json.loads(token, strict=False).encode()
        return token
    except ValueError:
        return json.dumps(token[1:-1])


def salvage(text):
    """The document of a damaged trace that has one event a line, and whether it breaks off."""
    head, _, rest = text.partition('"traceEvents": [')
    document, cut_short = parse(head + '"traceEvents": []}'), True
    for line in rest.split("\n"):
        event = re.sub(r'"(?:[^"\\]|\\.)*"', string_as_written, line.strip(" \t\r,"))
        if event.startswith("]"):
            cut_short = False
        elif event:
            try:
                # Whatever follows it.
                document["traceEvents"].append(parse(event, json.JSONDecoder.raw_decode)[0])
            except ValueError:
                pass  # it is missing
    return document, cut_short


def chrome_events(path):
    """The events, the document that holds them, and whether it breaks off."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        document, cut_short = parse(data.decode()), False
    except ValueError:
        document, cut_short = salvage(data.decode(errors="each byte"))
    return document["traceEvents"] if isinstance(document, dict) else document, document, cut_short


def chrome_interval(event, order, start, end):
    category, name = event.get("cat"), event.get("name", "")
    interval = Event(start, end, order, name)
    if category == "user_annotation":
        interval.iteration = bool(re.fullmatch(r"ProfilerStep#[0-9]+", name))
        interval.operation = not (interval.iteration or LIBRARY_RANGES.match(name))
    elif category == "python_function":
        interval.layer = "python"
    elif category == "cpu_op":
        interval.layer = "backend"
    elif category in ("cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver"):
        interval.layer, interval.call = call_layer(name), True
        interval.correlation = correlation_of(event.get("args", {}))
        interval.one_kernel = launches_one_kernel(name)
    else:
        return None
    return interval


def join_begins_with_ends(events):
    """Complete events for the begins and ends of each thread, where they end; the begins that never
    end, and GPU work of which no end can be read; and how many ends there are of nothing."""
    stacks, joined, endless, never_begun = {}, [], [], 0

    def knows(event, *times):
        return all(isinstance(event.get(time), Number) for time in times)

    def lose_end(begin):
        if begin.get("cat") in GPU and knows(begin, "ts"):
            endless.append(begin)

    for event in events:
        stack = stacks.setdefault((event.get("pid"), event.get("tid")), [])
        if event.get("ph") == "B":
            stack.append(event)
        elif event.get("ph") == "E":
            never_begun += not stack
            begin = stack.pop() if stack else None
            if begin and not (knows(begin, "ts") and knows(event, "ts")):
                lose_end(begin)
            elif begin:
                length = fractions.Fraction(nanoseconds(event["ts"]) - nanoseconds(begin["ts"]), 1000)
                joined.append({**begin, "ph": "X", "dur": length})
        elif event.get("ph") == "X":
            (joined.append if knows(event, "ts", "dur") else lose_end)(event)
    open_at_end = [event for stack in stacks.values() for event in stack if knows(event, "ts")]
    return joined, open_at_end + endless, never_begun


GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def chrome_work(event, start, end, patterns):
    """One piece of work; of a copy between two devices one on each."""
    args = event.get("args", {})
    kind = kernel_class(event["name"], patterns) if event["cat"] == "kernel" else "copy"
    work = Work(start, end, kind, correlation_of(args), other_end="(other end)" in event["name"],
                device=int(args.get("device", args.get("inDevice", event["pid"]))),
                stream=(int(args.get("context", args.get("inContext", 0))),
                        int(args.get("stream", event["tid"]))))
    return [work] + other_ends(work, (args.get("fromDevice"), args.get("fromContext")),
                               (args.get("toDevice"), args.get("toContext")))


def other_ends(work, source, target):
    """Of (device, context) each. Nobody names a stream there."""
    ends = {int(device): (int(context or 0), 0) for device, context in (source, target)
            if device is not None}
    return [dataclasses.replace(work, device=end, other_end=True, stream=stream)
            for end, stream in ends.items() if end != work.device and len(ends) == 2]


def read_chrome(path):
    events, _, cut_short = chrome_events(path)
    patterns = comm_patterns()
    processes, work, last = {}, [], -math.inf

    def add(order, event, ended):
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event["dur"]) if ended else max(last, start)
        if end < start:
            return -math.inf  # it counts for nothing
        if event.get("cat") in GPU:
            pieces = chrome_work(event, start, end, patterns)
            work.extend(dataclasses.replace(piece, ended=ended) for piece in pieces)
            return end
        interval = chrome_interval(event, order, start, end)
        if interval is None:
            return -math.inf
        process = processes.setdefault(event["pid"], Process(int(event["pid"])))
        process.threads.setdefault(int(event["tid"]), []).append((event["cat"], interval))
        return end

    joined, open_at_end, never_begun = join_begins_with_ends(events)
    last = max((add(order, event, True) for order, event in enumerate(joined)), default=last)
    for order, event in enumerate(open_at_end, len(joined)):
        add(order, event, False)
    unnamed = processes.get("0")
    if unnamed and len(processes) == 2 and all(
            category == "python_function" for thread in unnamed.threads.values()
            for category, _ in thread):
        del processes["0"]
        only = next(iter(processes.values()))
        for tid, thread in unnamed.threads.items():
            only.threads[("unnamed", tid)] = thread
    for process in processes.values():
        process.threads = {tid: [interval for _, interval in thread]
                           for tid, thread in process.threads.items()}
    if work and not processes:
        processes = {"0": Process(0)}
    timed = [t for thread in (thread for p in processes.values() for thread in p.threads.values())
             for event in thread for t in (event.start, event.end)]
    timed += [t for item in work if item.ended for t in (item.start, item.end) if item.start or item.end]
    for item in work:
        item.timed = bool(not item.ended or item.start or item.end or not timed or
                          min(timed) <= 0 <= max(timed))
    processes, lost = assign(list(processes.values()), work)
    for process in processes if cut_short else []:
        process.unknown.append(after_last_work(process))
    return Trace(processes, lost, never_begun, cut_short)


def after_last_work(process):
    everything = [e for events in process.threads.values() for e in events] + process.work
    begin = max((work.end for work in process.work), default=min(e.start for e in everything))
    return begin, max(e.end for e in everything)
