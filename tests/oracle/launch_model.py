# SPDX-License-Identifier: Apache-2.0
"""Which process launched each piece of device work, as docs/trace_format.md says it, "Imported runs".

Shares no code with gpubound and no library beyond Python's own.
"""
import collections
import itertools
import math
import re


class CallsOfOneId:
    """The calls with one id, (start, place of the process) each, and the pieces of work with it by
    start."""

    def __init__(self, processes, correlation, work):
        self.calls, self.one_kernel_each = [], True
        for place, process in enumerate(processes):
            calls = [call for thread in process.threads.values() for call in thread
                     if call.call and call.correlation == correlation]
            self.one_kernel_each &= all(call.one_kernel for call in calls)
            # Not those within another one.
            self.calls += [(call.start, place) for i, call in enumerate(calls) if not any(
                (other.start, -other.end, j) < (call.start, -call.end, i) and other.end >= call.end
                for j, other in enumerate(calls))]
        self.calls.sort()
        self.work = sorted(work, key=lambda item: (item.start, item.end))
        self.places = {place for _, place in self.calls}

    def begun(self, time):
        return sum(start <= time for start, _ in self.calls)

    def may_have_launched(self, item):
        """The places of the processes whose call may have launched the piece."""
        if len(self.places) == 1:
            return self.places
        until, used, count = self.begun(item.start) or len(self.calls), 0, 0
        for other in itertools.takewhile(lambda other: other is not item, self.work):
            count += not other.other_end
            # So many pieces, and just as many calls that can have launched them.
            if self.one_kernel_each and not other.other_end and self.begun(other.start) == count:
                used = count
        calls = self.calls[used:until] or self.calls[:until]
        return {place for _, place in calls}

    def shared_streams(self):
        """Streams with more pieces than a process has calls: one process alone cannot have launched
        them."""
        most = max(sum(place == other for _, other in self.calls) for place in self.places)
        pieces = collections.Counter((item.device, item.stream) for item in self.work)
        return {stream for stream, count in pieces.items() if self.one_kernel_each and count > most}


def launchers(processes, work):
    """Of each piece, by identity: the process that launched it, several that may have where the stream
    does not tell, or none."""
    by_id = collections.defaultdict(list)
    for item in work:
        by_id[item.correlation].append(item)
    launched_by, of_stream, shared = {}, {}, set()
    for correlation, pieces in by_id.items():
        calls = CallsOfOneId(processes, correlation, pieces)
        if not correlation or not calls.calls:
            continue
        shared |= calls.shared_streams()
        for item in pieces:
            stream = item.device, item.stream
            launched_by[id(item)] = places = calls.may_have_launched(item)
            of_stream[stream] = of_stream.get(stream, places) & places
    for item in work:
        places, stream = launched_by.get(id(item), set()), (item.device, item.stream)
        if len(places) > 1 and stream not in shared and len(of_stream[stream]) == 1:
            places = of_stream[stream]
        launched_by[id(item)] = [processes[place] for place in places]
    return launched_by


def assign(processes, work):
    """Gives each piece of work to the process that launched it. Counts what belongs to none: while that
    ran, GPU time is unknown in the processes that use its device or may have launched some of it, in
    all where there are none."""
    lost, untimed = [], [item for item in work if not item.timed]
    for item in untimed:
        possible = processes if item.pid is None else [p for p in processes if p.pid == item.pid]
        begins = [(p, min(calls)) for p in possible if (calls := [
            call.start for thread in p.threads.values() for call in thread
            if call.call and item.correlation and call.correlation == item.correlation])]
        for process, begin in begins or [(p, -math.inf) for p in possible]:
            process.unknown.append((begin, math.inf))
        for process in possible:
            process.ran.add(item.correlation)
    work = [item for item in work if item.timed]
    launched_by = launchers(processes, [item for item in work if item.pid is None])
    for item in work:
        owners = [p for p in processes if p.pid == item.pid]
        if item.pid is None and len(processes) == 1:
            owners = processes
        elif item.pid is None:
            owners = launched_by[id(item)]
        for process in owners:
            process.ran.add(item.correlation)
        for process in owners if len(owners) == 1 and item.ended else []:
            process.streams.add((item.device, item.stream))
        if len(owners) > 1:
            lost.append(item)
        elif owners and item.ended:
            owners[0].work.append(item)
        elif owners:
            owners[0].unknown.append((item.start, item.end))
        else:
            lost.append(item)
    for item in lost:
        possible = [p for other in lost if other.device == item.device
                    for p in launched_by.get(id(other), [])]
        users = [p for p in processes
                 if p in possible or any(w.device == item.device for w in p.work)] or processes
        for process in users:
            process.unknown.append((item.start, item.end))
    return processes, sum(not item.other_end for item in lost)


WAITS_FOR_DEVICE = re.compile(r"(cuda|cu|hip|musa|mu)(Device|Ctx|Thread)Synchronize")
WAITS_FOR_STREAM = re.compile(r"(cuda|cu|hip|musa|mu)StreamSynchronize")


def lose_launches(process):
    """Counts the calls of a process that launched a kernel which is not there, and has GPU time unknown
    from each on, until a later call of its thread has waited for all."""
    ran = process.ran - {0}
    if not ran or process.hidden:
        return
    for thread in process.threads.values():
        calls = sorted((event for event in thread if event.call), key=lambda e: e.key())
        waits = [bool(WAITS_FOR_DEVICE.match(call.name)) or
                 bool(len(process.streams) <= 1 and WAITS_FOR_STREAM.match(call.name))
                 for call in calls]
        outer, group = None, []
        for place, call in enumerate([*calls, None]):
            launches = call is not None and call.one_kernel and call.correlation
            if call is not None and outer is not None and call.end <= calls[outer].end:
                # Of the driver, within the runtime's.
                group += [call.correlation] if launches else []
                continue
            if outer is not None and not ran.intersection(group):
                process.lost_launches += 1
                until = next((calls[later].end for later in range(outer + 1, len(calls))
                              if waits[later] and calls[later].end > calls[outer].end), math.inf)
                process.unknown.append((calls[outer].start, until))
            if launches or call is None:
                outer, group = place, [call.correlation] if launches else []
            elif outer is not None:
                group = [*ran]  # decided on
