# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace with the messages of Perfetto's own Python package, and checks it.

Everything that Perfetto's trace processor would count as an error is one here: a track that nothing
describes, a name that was never interned, a packet that needs state which was not sent, slices of a
track that do not nest, a time in a clock that no snapshot knows.
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
        self._events = []
        for packet in trace.packet:
            self._read(packet)
        self._nest()
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
                if not self.tracks[track].HasField("counter"):
                    self.errors.append("a value on a track that is no counter")
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
            if sum(item.category == "cuda_api" for item in items) != 1 or len(items) < 2:
                self.errors.append(f"flow {flow} does not lead from one call to some work")

    def name_of(self, track):
        """The name of a track as a viewer shows it."""
        descriptor = self.tracks[track]
        return descriptor.name or descriptor.thread.thread_name or descriptor.process.process_name
