# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace with the messages of Perfetto's own Python package, and checks it.

The trace processor (trace_processor_test.py) forgives some faults and does not say where others are.
What it would count as an error, and what it forgives, is looked for here:

    packets     a field that no message has, a packet without a sequence or before the state it needs
    clocks      a time in a clock that no snapshot knows, a time below zero
    interning   a number that stands for nothing, or for two things; number 0, which is none
    tracks      an event on a track that nothing describes; a track that is described twice, has no
                parent, or leads to no process; two processes of one pid, threads of one process and tid
    slices      an end without a begin, a slice without an end, one that sticks out of the one around
                it, once packets are sorted by time and else left as they were sent
    counters    a value on a track that is no counter, or a slice on one that is
    flows       an arrow that does not lead from one call to the work that it launched
"""
import collections

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

Slice = collections.namedtuple("Slice", "track category name begin end flow details")
CLEARED, NEEDS_STATE = 1, 2


class PerfettoTrace:
    """`tracks` (descriptors by uuid), `slices`, `instants`, `values`; `errors` should be empty."""

    def __init__(self, data):
        trace = pb.Trace()
        trace.ParseFromString(data)
        self.errors = []
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.values = []
        self._interned = collections.defaultdict(dict)
        self._ready = False
        self._clocks = set()
        self._events = []
        for packet in trace.packet:
            self._read(packet)
        self._check_tracks()
        self._check_kinds()
        self._nest()
        self._check_nesting()
        self._check_flows()

    def _read(self, packet):
        self._expect_known(packet)
        if packet.trusted_packet_sequence_id == 0:
            self.errors.append("a packet without a sequence")
        if packet.HasField("clock_snapshot"):
            snapshot = packet.clock_snapshot
            clocks = {clock.clock_id for clock in snapshot.clocks}
            default = packet.trace_packet_defaults.timestamp_clock_id
            if default not in clocks or snapshot.primary_trace_clock != default:
                self.errors.append("the default clock is not in the snapshot")
            self._clocks |= clocks
        if packet.HasField("timestamp_clock_id") and packet.timestamp_clock_id not in self._clocks:
            self.errors.append(f"clock {packet.timestamp_clock_id} is in no snapshot")
        if packet.HasField("timestamp") and packet.timestamp >= 1 << 63:
            self.errors.append("a time below zero")
        if packet.sequence_flags & CLEARED:
            self._ready = True
            self._interned.clear()
        if packet.sequence_flags & NEEDS_STATE and not self._ready:
            self.errors.append("a packet before the state that it needs")
        self._intern(packet.interned_data)
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            if descriptor.uuid in self.tracks:
                self.errors.append(f"track {descriptor.uuid} is described twice")
            if descriptor.parent_uuid and descriptor.parent_uuid not in self.tracks:
                self.errors.append(f"track {descriptor.uuid} has no parent")
            self.tracks[descriptor.uuid] = descriptor
        if packet.HasField("track_event"):
            self._add_event(packet.timestamp, packet.track_event)

    def _expect_known(self, message):
        for field in UnknownFieldSet(message):
            self.errors.append(f"{message.DESCRIPTOR.name} has no field {field.field_number}")
        for field, value in message.ListFields():
            if field.message_type is not None:
                for part in value if hasattr(value, "append") else [value]:
                    self._expect_known(part)

    def _intern(self, data):
        for kind in ("event_categories", "event_names", "debug_annotation_names",
                     "debug_annotation_string_values"):
            for entry in getattr(data, kind):
                if entry.iid in self._interned[kind]:
                    self.errors.append(f"{kind} {entry.iid} is interned twice")
                if entry.iid == 0:
                    self.errors.append(f"{kind} has something under number 0")
                text = entry.str if kind.endswith("values") else entry.name
                self._interned[kind][entry.iid] = text

    def _text(self, kind, iid):
        if iid not in self._interned[kind]:
            self.errors.append(f"{kind} {iid} was not interned")
        text = self._interned[kind].get(iid)
        return text.decode() if isinstance(text, bytes) else text

    def _add_event(self, time, event):
        if event.track_uuid not in self.tracks:
            self.errors.append(f"nothing describes track {event.track_uuid}")
        category = name = None
        details = {}
        if event.type in (pb.TrackEvent.TYPE_SLICE_BEGIN, pb.TrackEvent.TYPE_INSTANT):
            category = self._text("event_categories", event.category_iids[0])
            name = self._text("event_names", event.name_iid)
        for detail in event.debug_annotations:
            key = self._text("debug_annotation_names", detail.name_iid)
            details[key] = (detail.uint_value if detail.HasField("uint_value") else
                            self._text("debug_annotation_string_values", detail.string_value_iid))
        flow = event.flow_ids[0] if event.flow_ids else 0
        self._events.append((time, event.type, event.track_uuid, category, name, flow, details,
                             event.double_counter_value))

    def _ancestors(self, track):
        """From |track| to its root; stops where it would go round."""
        seen = []
        while track in self.tracks and track not in seen:
            seen.append(track)
            track = self.tracks[track].parent_uuid
        return seen

    def _check_tracks(self):
        """Every track belongs to a process, by its ancestors or, of a thread, by its pid."""
        pids = collections.Counter(descriptor.process.pid for descriptor in self.tracks.values()
                                   if descriptor.HasField("process"))
        threads = collections.Counter((descriptor.thread.pid, descriptor.thread.tid)
                                      for descriptor in self.tracks.values()
                                      if descriptor.HasField("thread"))
        self.errors += [f"{count} processes of pid {pid}" for pid, count in pids.items()
                        if count > 1]
        self.errors += [f"{count} threads of pid and tid {ids}" for ids, count in threads.items()
                        if count > 1]
        self.errors += [f"thread {ids} belongs to no process" for ids in threads
                        if ids[0] not in pids]
        for track in self.tracks:
            root = self.tracks[self._ancestors(track)[-1]]
            if root.parent_uuid:
                self.errors.append(f"the ancestors of track {track} go round")

    def _check_kinds(self):
        for _, kind, track, *_ in self._events:
            is_value = kind == pb.TrackEvent.TYPE_COUNTER
            if track in self.tracks and self.tracks[track].HasField("counter") != is_value:
                self.errors.append(f"an event of type {kind} on track {track}")

    def _check_nesting(self):
        """Independent of the stack that made the slices: by their times alone."""
        by_track = collections.defaultdict(list)
        for item in self.slices:
            by_track[item.track].append(item)
        for track, items in by_track.items():
            around = []
            for item in sorted(items, key=lambda item: (item.begin, -item.end)):
                if item.end < item.begin:
                    self.errors.append(f"{item.name} on track {track} ends before it begins")
                while around and around[-1] <= item.begin:
                    around.pop()
                if around and item.end > around[-1]:
                    self.errors.append(f"{item.name} on track {track} sticks out")
                around.append(item.end)

    def _nest(self):
        """Slices from begins and ends, as the trace processor sorts them: by time, then as sent."""
        open_slices = collections.defaultdict(list)
        for time, kind, track, category, name, flow, details, value in sorted(
                self._events, key=lambda event: event[0]):
            if kind == pb.TrackEvent.TYPE_SLICE_BEGIN:
                open_slices[track].append((time, category, name, flow, details))
            elif kind == pb.TrackEvent.TYPE_SLICE_END:
                if not open_slices[track]:
                    self.errors.append(f"an end without a begin on track {track}")
                    continue
                begin, category, name, flow, details = open_slices[track].pop()
                self.slices.append(Slice(track, category, name, begin, time, flow, details))
            elif kind == pb.TrackEvent.TYPE_INSTANT:
                self.instants.append((track, time, name))
            elif kind == pb.TrackEvent.TYPE_COUNTER:
                self.values.append((self.tracks[track].name, time, value))
            else:
                self.errors.append(f"an event of type {kind}")
        for track, left in open_slices.items():
            self.errors.extend(f"{entry[2]} on track {track} has no end" for entry in left)

    def _check_flows(self):
        ends = collections.defaultdict(list)
        for item in self.slices:
            if item.flow:
                ends[item.flow].append(item)
        self.flows = {flow: sorted(items, key=lambda item: item.begin)
                      for flow, items in ends.items()}
        for flow, items in self.flows.items():
            calls = [item for item in items if item.category == "cuda_api"]
            work = [item for item in items if item.category in ("compute", "comm", "copy")]
            if len(calls) != 1 or not work or len(calls) + len(work) != len(items):
                self.errors.append(f"flow {flow} does not lead from one call to some work")
            elif {item.details.get("correlation") for item in items} != {
                    calls[0].details["correlation"]}:
                self.errors.append(f"flow {flow} joins what has different correlation ids")

    def name_of(self, track):
        """The name of a track as a viewer shows it."""
        descriptor = self.tracks[track]
        return descriptor.name or descriptor.thread.thread_name or descriptor.process.process_name
