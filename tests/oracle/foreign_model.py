# SPDX-License-Identifier: Apache-2.0
"""What a foreign trace is to the oracle, and how Chrome JSON (plain or gzip) is read.

Shares no code with gpubound and no library beyond Python's own. Everything is held in memory and
every number is a Fraction until it is nanoseconds.
"""
import codecs
import collections
import dataclasses
import fractions
import gzip
import json
import math
import pathlib
import re

from launch_model import assign, lose_launches

LAYERS = ["unset", "python", "wait", "native", "simulator", "backend", "cuda_sync", "cuda_api"]
SYNC = re.compile(r"(cuda|cu|hip|musa|mu)((Stream|Device|Ctx|Event|Thread)Synchronize|Memcpy(?!.*Async).*)$|"
                  r"urQueueFinish$|urEventWait$|ze(CommandQueue|EventHost|FenceHost|CommandListHost)Synchronize$")
COPY = re.compile(r"(cuda|cu|hip|musa|mu)Memcpy.*Async.*$")
codecs.register_error("each byte", lambda error: ("\ufffd" * (error.end - error.start), error.end))
NATIVE_FUNCTION = re.compile(r"<(built-in|method) ")
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

    def is_frameworks(self):
        return self.call or self.layer == "backend"

    def may_wait(self):
        """A function that Python calls and that is none of Python's."""
        return self.layer == "python" and bool(NATIVE_FUNCTION.match(self.name))


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
    category: str = ""  # of the event


@dataclasses.dataclass
class Process:
    pid: int
    threads: dict = dataclasses.field(default_factory=dict)
    work: list = dataclasses.field(default_factory=list)
    base: str = "python"
    busiest_reports: bool = True
    unknown: list = dataclasses.field(default_factory=list)  # intervals of GPU time
    calls_nest: bool = True  # the innermost event decides; else any open wait does
    ran: set = dataclasses.field(default_factory=set)  # correlation ids of work that may be its
    hidden: bool = False  # it launched a kind of work of which there is none
    lost_launches: int = 0
    streams: set = dataclasses.field(default_factory=set)  # on which its work ran


@dataclasses.dataclass
class Trace:
    processes: list
    lost: int  # pieces of work that no process launched
    never_begun: int = 0  # ends of nothing
    cut_short: bool = False  # events may be missing
    incomplete_tables: int = 0
    launches_without_work: int = 0  # calls
    names_missing: int = 0  # of calls, ranges, kernels and domains
    timeless: int = 0  # events of threads that have no time


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
    return bool(re.match(r"(cuda|cu|hip|musa|mu)Launch(?!HostFunc)(?!.*(Graph|Batch))",
                         strip_version(name)))


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


CATEGORIES = {"Operator": "cpu_op", "Kernel": "kernel", "Memcpy": "gpu_memcpy",
              "Memset": "gpu_memset", "Runtime": "call"}


def with_usual_category(event):
    """An old PyTorch called them otherwise, every accelerator calls its runtime after itself, and what
    record_function() opened was an operator once."""
    category = event.get("cat", "")
    category = CATEGORIES.get(category, category)
    if re.search(r"_(runtime|driver)$", category):
        category = "call"
    if category == "cpu_op" and re.fullmatch(r"ProfilerStep#[0-9]+", event.get("name", "")):
        category = "user_annotation"
    return {**event, "cat": category} if "cat" in event else event


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
    elif category == "call":
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
        if knows(begin, "ts") and (begin.get("cat") in GPU or is_operation(begin)):
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
                complete = {**begin, "ph": "X", "dur": length}
                (joined.append if length >= 0 else lose_end)(complete)
        elif event.get("ph") == "X":
            ends = knows(event, "ts", "dur") and nanoseconds(event["dur"]) >= 0
            (joined.append if ends else lose_end)(event)
    open_at_end = [event for stack in stacks.values() for event in stack if knows(event, "ts")]
    return joined, endless + open_at_end, never_begun


def is_operation(event):
    """Of what has no end an operation alone counts, to the last."""
    return event.get("cat") == "user_annotation" and \
        not re.fullmatch(r"ProfilerStep#[0-9]+", event.get("name", ""))


GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def chrome_work(event, start, end, patterns):
    """One piece of work; of a copy between two devices one on each."""
    args = event.get("args", {})
    kind = kernel_class(event["name"], patterns) if event["cat"] == "kernel" else "copy"
    work = Work(start, end, kind, correlation_of(args), category=event["cat"], other_end="(other end)" in event["name"],
                device=int(args.get("device", args.get("inDevice", event["pid"]))),
                pid=int(args["owner pid"]) if "owner pid" in args else None,
                stream=(int(args.get("context", args.get("inContext", 0))),
                        int(args.get("stream", re.sub("[^0-9]", "", str(event["tid"]))))))
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

    joined, open_at_end, never_begun = join_begins_with_ends(map(with_usual_category, events))
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
    def is_nothing(item):
        return not item.start and not item.end

    timed = [t for process in processes.values() for thread in process.threads.values()
             for event in thread if not is_nothing(event) for t in (event.start, event.end)]
    timed += [t for item in work if item.ended and not is_nothing(item)
              for t in (item.start, item.end)]
    events = [event for process in processes.values() for thread in process.threads.values()
              for event in thread]
    near = not timed or max(min(timed), -max(timed)) <= max(timed) - min(timed)
    zero_is_an_events_time = near and any(is_nothing(event) for event in events)
    if zero_is_an_events_time:
        timed.append(0)
    zero_is_a_time = not timed or min(timed) <= 0 <= max(timed)
    for item in work:
        item.timed = not item.ended or zero_is_a_time or not is_nothing(item)
    timeless = 0
    for process in processes.values():
        for tid, thread in list(process.threads.items()):
            kept = [event for event in thread if zero_is_an_events_time or not is_nothing(event)]
            timeless += len(thread) - len(kept)
            process.threads[tid] = kept
        process.threads = {tid: thread for tid, thread in process.threads.items() if thread}
    for process in processes.values():
        name_operations(process)
    hidden, launches = hidden_kinds(processes.values(), work)
    for process in processes.values():
        process.hidden = process.pid in hidden
    processes, lost = assign(list(processes.values()), work)
    for process in processes:
        lose_launches(process)
        launches += process.lost_launches
        if process.hidden:
            process.unknown.append((-math.inf, math.inf))
    for process in processes if cut_short else []:
        process.unknown.append(after_last_work(process))
    return Trace(processes, lost, never_begun, cut_short, launches_without_work=launches,
                 timeless=timeless)


TORCHS_OWN = re.compile(r"Optimizer\.(step|zero_grad)#|enumerate\(DataLoader\)#|FSDP[:.]|"
                        r"(FullyShardedDataParallel|DistributedDataParallel|DataParallel)\.|PyTorch Profiler")
BACKWARD_NODE = re.compile("autograd::engine::evaluate_function: ")
MODULE = re.compile(r"nn\.Module: (.+?)(_[0-9]+)?$")


def name_operations(process):
    """In a process that the program does not annotate, after what PyTorch calls its own: on the thread
    with such ranges, else the one with the most events that is none of autograd's."""
    def nodes(thread):
        return sum(bool(BACKWARD_NODE.match(event.name)) for event in thread)

    operations = {tid: [event for event in thread if event.operation]
                  for tid, thread in process.threads.items()}
    if any(not TORCHS_OWN.match(event.name) for of in operations.values() for event in of):
        return
    waiting = [tid for tid, of in operations.items() if of] or sorted(
        process.threads, reverse=True, key=lambda tid: (
            2 * nodes(process.threads[tid]) < len(process.threads[tid]), len(process.threads[tid])))
    if not waiting:
        return
    thread, until = process.threads[waiting[0]], -math.inf
    if any(nodes(other) for tid, other in process.threads.items() if tid != waiting[0]):
        raise NotImplementedError("a gap that is backpropagation is checked by hand")
    for event in sorted(thread, key=lambda event: event.key()):
        if event.operation and event.name.startswith("Optimizer."):
            event.name = "optimizer"
        elif event.operation and event.name.startswith("enumerate(DataLoader)#"):
            event.name = "data loading"
        module = event.layer == "python" and MODULE.match(event.name)
        node = event.layer == "backend" and BACKWARD_NODE.match(event.name)
        if (module or node) and event.end > until:
            until = event.end
            thread.append(Event(event.start, event.end, event.order - 0.5,
                                module.group(1) if module else "backpropagation", operation=True))


LAUNCHES = re.compile(r"(cuda|hip|cu|musa|mu)(Memcpy|Memset|GraphLaunch|Launch(?!HostFunc))")
LAUNCHED = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "GraphLaunch": "graph", "Launch": "kernel"}


def hidden_kinds(processes, work):
    """The pids that launched a kind of work of which there is none, and how many calls did. ROCm fills
    and copies by kernels, and calls that set memory may do nothing."""
    pids, calls = set(), 0
    for process in processes:
        mine = {item.category for item in work if item.pid in (None, process.pid)}
        launched = collections.Counter()
        for event in [event for thread in process.threads.values() for event in thread if event.call]:
            launch = LAUNCHES.match(event.name)
            if launch and not event.name.startswith("hipMem"):
                launched[LAUNCHED[launch.group(2)]] += 1
        for kind, count in launched.items():
            there = mine if kind in ("graph", "gpu_memset") else mine & {kind}
            if not there:
                pids.add(process.pid)
                calls += count
    return pids, calls


def after_last_work(process):
    everything = [e for events in process.threads.values() for e in events] + process.work
    begin = max((work.end for work in process.work), default=min(e.start for e in everything))
    return begin, max(e.end for e in everything)
