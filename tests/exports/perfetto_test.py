#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpubound export --perfetto`, read with Perfetto's own messages: perfetto_test.py GPUBOUND EXAMPLE_RUN
DATA. Needs requirements.txt beside this file."""
import collections
import pathlib

from exports_fixture import Exports, ODD_NAME, main
from perfetto_trace import PerfettoTrace, pb


class Perfetto(Exports):
    def test_every_trace_is_free_of_errors(self):
        for run in self.runs():
            with self.subTest(run):
                self.assertEqual(self.perfetto(run).errors, [])

    def test_work_and_calls_are_there_with_their_lengths(self):
        for run in self.runs():
            with self.subTest(run):
                slices = self.perfetto(run).slices
                database = self.database(run)
                for table, categories in (("gpu", ("compute", "comm", "copy")),
                                          ("api", ("cuda_api",))):
                    found = collections.Counter((s.name, s.begin, s.end) for s in slices
                                                if s.category in categories and
                                                "correlation" in s.details)
                    wanted = collections.Counter(
                        database.execute(f"SELECT name, begin_ns, end_ns FROM {table}"))
                    self.assertEqual(found, wanted)

    def test_scopes_are_there_with_their_lengths(self):
        for run in self.runs():
            with self.subTest(run):
                found = collections.Counter()
                for item in self.perfetto(run).slices:
                    if item.category not in ("phase", "iteration") and \
                            "correlation" not in item.details:
                        found[item.name] += item.end - item.begin
                wanted = dict(self.database(run).execute(
                    "SELECT name, sum(duration_ns) FROM scope WHERE kind <> 'api' GROUP BY name"))
                self.assertEqual(dict(found), wanted)

    def test_arrows_lead_from_a_launch_to_its_work(self):
        trace = self.perfetto(self.example)
        arrows = sorted([(item.name, item.begin) for item in items]
                        for items in trace.flows.values())
        self.assertEqual(arrows, [
            [("cudaLaunchKernel", 1000), ("gemm", 1200)],
            [("gemm", 1700), ("cudaLaunchKernel", 2000), ("gemm", 3000)]])

    def test_tracks_are_processes_threads_devices_and_streams(self):
        trace = self.perfetto(self.example)
        names = collections.Counter(trace.name_of(track) for track in trace.tracks)
        self.assertEqual(names["program"], 2)
        self.assertEqual(names["worker"], 2)
        self.assertEqual(names["GPU 0 Model"], 2)
        self.assertEqual(names["stream 7 (context 1)"], 3)  # one more for what overlaps

    def test_counters_phases_iterations_and_marks(self):
        trace = self.perfetto(self.example)
        self.assertIn(("reward", 600, 1.5), trace.values)
        self.assertIn(("nvidia-smi utilisation % of GPU-1", 500, 97), trace.values)
        found = {(s.category, s.name, s.begin, s.end) for s in trace.slices}
        self.assertIn(("phase", "update", 10, 100000), found)
        self.assertIn(("iteration", "iteration", 100, 800), found)
        self.assertEqual([(time, name) for _, time, name in trace.instants], [(1600, "update")])

    def test_names_are_data(self):
        self.assertIn(ODD_NAME, {item.name for item in self.perfetto(self.example).slices})


class PerfettoChecks(Exports):
    """That a broken trace is found out: each test breaks a sound one in one place."""

    def broken(self, change):
        data = pathlib.Path(self.export(self.example, "perfetto", "x.pftrace")).read_bytes()
        trace = pb.Trace()
        trace.ParseFromString(data)
        change(trace.packet)
        return "\n".join(PerfettoTrace(trace.SerializeToString()).errors)

    @staticmethod
    def events(packets, kind):
        return [packet for packet in packets
                if packet.HasField("track_event") and packet.track_event.type == kind]

    def test_a_lost_begin_or_end(self):
        def lose(kind):
            return lambda packets: packets.remove(self.events(packets, kind)[-1])
        self.assertIn("an end without a begin", self.broken(lose(pb.TrackEvent.TYPE_SLICE_BEGIN)))
        self.assertIn("has no end", self.broken(lose(pb.TrackEvent.TYPE_SLICE_END)))

    def test_a_name_that_was_not_interned(self):
        def lose(packets):
            for packet in packets:
                packet.ClearField("interned_data")
        self.assertIn("was not interned", self.broken(lose))

    def test_a_track_that_is_not_described_or_has_no_parent(self):
        def lose(wanted):
            def change(packets):
                packets.remove(next(p for p in packets if p.HasField("track_descriptor") and
                                    p.track_descriptor.HasField(wanted)))
            return change
        self.assertIn("nothing describes track", self.broken(lose("thread")))
        self.assertIn("has no parent", self.broken(lose("process")))

    def test_a_value_on_a_track_of_slices(self):
        def change(packets):
            values = self.events(packets, pb.TrackEvent.TYPE_COUNTER)
            slices = self.events(packets, pb.TrackEvent.TYPE_SLICE_BEGIN)
            values[0].track_event.track_uuid = slices[0].track_event.track_uuid
        self.assertIn("an event of type 4 on track", self.broken(change))

    def test_a_clock_that_no_snapshot_knows(self):
        def change(packets):
            packets[-1].timestamp_clock_id = 6
        self.assertIn("clock 6 is in no snapshot", self.broken(change))

    def test_an_arrow_to_other_work(self):
        def change(packets):
            with_flow = [p for p in packets if p.track_event.flow_ids]
            del with_flow[0].track_event.flow_ids[:]
        self.assertIn("does not lead from one call", self.broken(change))

    def test_a_process_twice(self):
        def change(packets):
            for packet in packets:
                if packet.track_descriptor.HasField("process"):
                    packet.track_descriptor.process.pid = 7
        self.assertIn("processes of pid 7", self.broken(change))


if __name__ == "__main__":
    main()
