# SPDX-License-Identifier: Apache-2.0
"""The definition of the breakdown, instant by instant: what every process does between two
neighbouring edges of any kind is looked up anew, from the set of intervals that hold the instant."""
import bisect
import collections
import fractions

import queued_model
from foreign_model import LAYERS, is_copy_call

NO_OPERATION = "(no operation)"
ORDER = ("comm", "compute", "copy")
WINDOW_NS = 166666667
DEPTH = {"wait": 0, "native": 1, "simulator": 2, "backend": 3, "cuda_sync": 4, "cuda_api": 5}


def union(intervals):
    total, until = 0, None
    for start, end in sorted(intervals):
        begin = start if until is None else max(start, until)
        total += max(0, end - begin)
        until = end if until is None else max(until, end)
    return total


def reporting_thread(process):
    if not process.threads:
        return None
    operations = {tid: [e for e in events if e.operation] for tid, events in process.threads.items()}
    # Of two threads with the same number, the one of pid 0 comes second.
    number = {tid: tid[1] + 0.5 if isinstance(tid, tuple) else tid for tid in process.threads}
    if not process.busiest_reports:
        first = [(min(e.start for e in events), tid) for tid, events in operations.items() if events]
        if first:
            return min(first)[1]
        if process.pid in process.threads:
            return process.pid
    elif any(union((e.start, e.end) for e in events) for events in operations.values()):
        return max(process.threads, key=lambda tid: (
            union((e.start, e.end) for e in operations[tid]), -number[tid]))
    return max(process.threads, key=lambda tid: (len(process.threads[tid]), -number[tid]))


class Evaluation:
    """Everything that a report says of one process."""

    def __init__(self, process):
        self.process = process
        self.threads = {tid: sorted(events, key=lambda e: e.key())
                        for tid, events in process.threads.items()}
        self.reporting = reporting_thread(process)
        self.annotates = {tid: any(e.operation for e in events)
                          for tid, events in self.threads.items()}
        everything = [e for events in self.threads.values() for e in events] + process.work
        self.begin = min(e.start for e in everything)
        self.end = max(e.end for e in everything)
        self.launch = {id(work): self.launch_of(work) for work in process.work}
        self.own_copies = collections.defaultdict(list)  # tid -> while an own copy of a call runs
        for work in process.work:
            tid, call = self.launch[id(work)] or (None, None)
            if call is not None and is_copy_call(call.name):
                own = (max(work.start, call.start), min(work.end, call.end))
                if own[0] < own[1]:
                    self.own_copies[tid].append(own)
        self.sweep()
        self.count()
        self.transit()
        self.find_causes()

    # What launched what.
    def launch_of(self, work):
        calls = sorted([(tid, e) for tid, events in self.threads.items() for e in events
                        if e.call and work.correlation and e.correlation == work.correlation],
                       key=lambda c: c[1].key())
        if not calls:
            return None
        chosen = max([n for n, (_, call) in enumerate(calls) if call.start <= work.start],
                     default=0)
        while chosen > 0:
            (outer_tid, outer), (tid, inner) = calls[chosen - 1:chosen + 1]
            if outer_tid != tid or inner.end > outer.end:
                break
            chosen -= 1
        return calls[chosen]

    # What a thread does at an instant, given the intervals that hold it.
    def waits_for_own_copy(self, tid, t):
        return any(start <= t < end for start, end in self.own_copies[tid])

    def layer(self, tid, active, t):
        layered = [e for e in active if e.layer]
        calls = [e for e in layered if e.call]
        if not layered:
            return None
        if calls and not self.process.calls_nest:
            waits = self.waits_for_own_copy(tid, t) or any(e.layer == "cuda_sync" for e in calls)
            return "cuda_sync" if waits else "cuda_api"
        innermost = max(layered, key=lambda e: e.key())
        if innermost.call and self.waits_for_own_copy(tid, t):
            return "cuda_sync"
        return innermost.layer

    @staticmethod
    def operation(active):
        operations = [e for e in active if e.operation]
        return max(operations, key=lambda e: e.key()).name if operations else None

    def state(self, active, t):
        """(operation, layer, own layer) of the process."""
        mine = active.get(self.reporting, [])
        operation = self.operation(mine) or NO_OPERATION
        own = self.layer(self.reporting, mine, t) or self.process.base
        if own == self.process.base == "python" and self.may_wait(mine) and self.is_helped(active):
            own = "backend"
        candidates = [own]
        if own != "python":
            for tid, others in active.items():
                if tid == self.reporting:
                    continue
                theirs = self.layer(tid, others, t)
                if self.annotates[tid]:
                    if (self.operation(others) or NO_OPERATION) != operation:
                        continue
                    theirs = theirs or self.process.base
                if theirs in DEPTH:
                    candidates.append(theirs)
        deepest = max(candidates, key=lambda layer: DEPTH.get(layer, -1))
        return operation, deepest, own

    @staticmethod
    def may_wait(active):
        """Nothing, or a call of Python into native code, is the innermost of what has a layer."""
        layered = [e for e in active if e.layer]
        return not layered or max(layered, key=lambda e: e.key()).may_wait()

    def is_helped(self, active):
        """Another thread without operations runs operators or CUDA calls."""
        return any(e.is_frameworks() for tid, others in active.items()
                   if tid != self.reporting and not self.annotates[tid] for e in others)

    def sweep(self):
        edges = collections.defaultdict(list)
        for tid, events in self.threads.items():
            for e in events:
                edges[e.start].append((tid, e))
                edges[e.end].append((tid, e))
        for work in self.process.work:
            edges[work.start].append((None, work))
            edges[work.end].append((None, work))
        for t in [t for interval in self.process.unknown for t in interval]:
            if self.begin < t < self.end:
                edges[t] += []
        self.times = sorted(edges)
        self.states = []  # from each time to the next
        self.cells = collections.Counter()
        self.sums = collections.Counter()
        active = {tid: [] for tid in self.threads}
        running = []
        for t, following in zip(self.times, self.times[1:] + [None]):
            for tid, e in edges[t]:
                group = running if tid is None else active[tid]
                held = any(e is other for other in group)
                holds = e.start <= t < e.end
                if holds and not held:
                    group.append(e)
                elif held and not holds:
                    group[:] = [other for other in group if other is not e]
            operation, layer, own = self.state(active, t)
            self.states.append((operation, own))
            if following is None:
                break
            kinds = {work.kind for work in running}
            is_unknown = any(start <= t < end for start, end in self.process.unknown)
            gpu = "+".join(kind for kind in ORDER if kind in kinds) or (
                "unknown" if is_unknown else "idle")
            self.cells[(operation, layer, gpu)] += following - t
            pieces = sum(not work.other_end for work in running)
            self.sums[operation] += (following - t) * pieces

    def state_at(self, t):
        return self.states[bisect.bisect_right(self.times, t) - 1]

    def count(self):
        mine = [e for e in self.threads.get(self.reporting, []) if e.operation]
        self.counts = collections.Counter(e.name for e in mine)
        self.inclusive = {name: union((e.start, e.end) for e in mine if e.name == name)
                          for name in self.counts}

    def owner(self, tid, own, t):
        """The operation of what thread |tid| begins at |t|, |own| being the one open there."""
        operation, reporting_layer = self.state_at(t)
        if own is not None:
            return own, None
        if tid != self.reporting and not self.annotates[tid] and reporting_layer != "python":
            return operation, reporting_layer
        return NO_OPERATION, None

    def transit(self):
        self.transitions = collections.Counter()
        self.adopted_scopes = 0
        for tid, events in self.threads.items():
            stack = []  # of what began before, in order
            for e in events:
                stack = [other for other in stack if other.end > e.start]
                if e.layer:
                    base = self.process.base if tid == self.reporting or self.annotates[tid] else None
                    before = self.layer(tid, stack, e.start) or base
                    after = self.layer(tid, stack + [e], e.start)
                    operation, adopted = self.owner(tid, self.operation(stack), e.start)
                    before = before or adopted or self.process.base
                    if LAYERS.index(after) > LAYERS.index(before):
                        self.transitions[(operation, f"{before}->{after}")] += 1
                        self.adopted_scopes += adopted is not None and operation != NO_OPERATION
                if e.end > e.start:
                    stack.append(e)

    def find_causes(self):
        caused = collections.defaultdict(list)
        for work in self.process.work:
            tid, call = self.launch[id(work)] or (None, None)
            operation = NO_OPERATION
            if call is not None:
                holding = [e for e in self.threads[tid] if e.holds(call.start)]
                operation = self.owner(tid, self.operation(holding), call.start)[0]
            caused[operation].append((work.start, work.end))
        self.caused = {operation: union(intervals) for operation, intervals in caused.items()}

    def queued_ns(self):
        """Idle time of all devices before work that had been launched when the gap began, as
        (gaps, ns)."""
        calls = [(e.start, e.correlation) for events in self.threads.values() for e in events
                 if e.call]
        found = []
        for device in {work.device for work in self.process.work}:
            work = [(w.start, w.end, w.correlation, self.launch[id(w)] and self.launch[id(w)][1].end)
                    for w in self.process.work if w.device == device]
            found += queued_model.queued_gaps(work, calls, self.process.unknown)
            found += queued_model.head(work, calls, self.begin, self.process.unknown)
        found = [(max(begin, self.begin), min(end, self.end)) for begin, end in found]
        lengths = [end - begin for begin, end in found if end > begin]
        return len(lengths), sum(lengths)

    def smi_model(self):
        span = self.end - self.begin
        windows = set()
        for work in self.process.work:
            if work.kind != "copy" and work.end > work.start:
                windows.update(range((work.start - self.begin) // WINDOW_NS,
                                     (work.end - 1 - self.begin) // WINDOW_NS + 1))
        touched = sum(min(span, (n + 1) * WINDOW_NS) - n * WINDOW_NS for n in windows)
        return float(fractions.Fraction(touched, span)) if span else 0.0

    def iterations(self):
        """Those of the thread that begins the first, in order of time. None where some overlap or
        have no length: what is one then is no matter of definition."""
        steps = {tid: [e for e in events if e.iteration] for tid, events in self.threads.items()}
        told = min(((events[0].start, tid) for tid, events in steps.items() if events),
                   default=(0, None))[1]
        mine = steps.get(told, [])
        follow = all(a.end <= b.start for a, b in zip(mine, mine[1:]))
        return mine if follow and all(e.start < e.end for e in mine) else None

    def rows(self):
        # A row has time, scopes, transitions, or work that took time.
        names = {NO_OPERATION} | set(self.counts) | {o for o, ns in self.caused.items() if ns} | {
            operation for operation, _, _ in self.cells} | {o for o, _ in self.transitions}
        return {name: self.row(name) for name in names}

    def row(self, name):
        row = collections.Counter({"count": self.counts[name], "gpu_sum_ns": self.sums[name],
                                   "gpu_caused_ns": self.caused.get(name, 0)})
        for (operation, layer, gpu), ns in self.cells.items():
            if operation != name:
                continue
            waits = layer in ("cuda_sync", "wait")
            busy = gpu not in ("idle", "unknown")
            row["wall_ns"] += ns
            column = {(True, True): "gpu_only_ns", (True, False): "cpu_gpu_ns",
                      (False, True): "idle_ns", (False, False): "cpu_only_ns"}[(busy, waits)]
            row["unknown_ns" if gpu == "unknown" else column] += ns
            row["gpu_busy_ns"] += ns if busy else 0
            for kind in ORDER:
                row[f"gpu_{kind}_ns"] += ns if kind in gpu.split("+") else 0
            row["gpu_wait_ns"] += ns if busy and layer == "cuda_sync" else 0
        row["inclusive_wall_ns"] = row["wall_ns"] if name == NO_OPERATION else \
            self.inclusive.get(name, 0)
        return row


class RunEvaluation:
    """What a report says of a run and its devices, all processes taken together."""

    def __init__(self, processes):
        self.begin = min(process.begin for process in processes)
        self.end = max(process.end for process in processes)
        self.wall = self.end - self.begin
        self.work = [(process.process.pid, work) for process in processes
                     for work in process.process.work]
        self.devices = sorted({work.device for _, work in self.work})

    def device(self, number):
        """Time in which |number| works, and for each process alone and beside others."""
        mine = [(pid, work) for pid, work in self.work if work.device == number]
        busy, alone, contended = 0, collections.Counter(), collections.Counter()
        for t, following in self.slices(mine):
            pids = {pid for pid, work in mine if work.start <= t < work.end}
            busy += following - t if pids else 0
            for pid in pids:
                (contended if len(pids) > 1 else alone)[pid] += following - t
        return busy, sorted((pid, alone[pid], contended[pid]) for pid in {pid for pid, _ in mine})

    @staticmethod
    def slices(work):
        times = sorted({t for _, item in work for t in (item.start, item.end)})
        return zip(times, times[1:])

    def share(self, begin, end, kinds):
        """The part of the devices' time from |begin| to |end| in which work of |kinds| runs."""
        busy = sum(union((max(work.start, begin), max(min(work.end, end), begin))
                         for _, work in self.work if work.device == number and work.kind in kinds)
                   for number in self.devices)
        time = (end - begin) * len(self.devices)
        return float(fractions.Fraction(busy, time)) if time else 0.0
