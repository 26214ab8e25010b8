#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `gpubound export` writes, read by other tools' own code: exports_test.py GPUBOUND EXAMPLE_RUN
DATA. EXAMPLE_RUN writes a run; DATA is tests/data. Needs requirements.txt beside this file."""
import collections
import csv
import json
import os
import pathlib
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

from prometheus_client.parser import text_string_to_metric_families

from perfetto_trace import PerfettoTrace, pb

GPUBOUND, EXAMPLE_RUN, DATA = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ODD_NAME = "\"'<b>,\n\\\ufffd\ufffd;"


def gpubound(*words, status=0):
    done = subprocess.run([GPUBOUND, *map(str, words)], capture_output=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr.decode()}")
    return done


def cells(report):
    return [sorted((cell["phase"], cell["operation"], cell["layer"], cell["gpu"], cell["ns"])
                   for cell in process["cells"]) for process in report["processes"]]


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.example = self.path("example.gpubound")
        subprocess.run([EXAMPLE_RUN, self.example], check=True)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def damaged(self):
        subprocess.run([EXAMPLE_RUN, self.path("damaged.gpubound"), "damaged"], check=True)
        return self.path("damaged.gpubound")

    def imported(self, file):
        run = self.path(file.name + ".gpubound")
        gpubound("import", file, "-o", run)
        return run

    def runs(self):
        yield self.example
        yield self.damaged()
        yield self.imported(DATA / "kineto/h100_bert_small.json.gz")
        yield self.imported(DATA / "kineto/vllm_decode_graph.json.gz")
        yield self.imported(DATA / "import/several_processes.json")
        yield self.imported(DATA / "import/partial_overlaps.json")

    def export(self, run, form, name):
        gpubound("export", run, f"--{form}", self.path(name), "--force")
        return self.path(name)

    def database(self, run):
        return sqlite3.connect(self.export(run, "sqlite", "run.db"))

    def report(self, run):
        return json.loads(gpubound("report", run, "--json").stdout)

    def perfetto(self, run):
        return PerfettoTrace(pathlib.Path(self.export(run, "perfetto", "x.pftrace")).read_bytes())


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
                    if item.category not in ("phase", "iteration") and not item.details:
                        found[item.name] += item.end - item.begin
                wanted = dict(self.database(run).execute(
                    "SELECT name, sum(duration_ns) FROM scope GROUP BY name"))
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


class Chrome(Exports):
    def test_what_was_imported_comes_back_with_the_same_cells(self):
        files = sorted((DATA / "import").glob("*.json")) + sorted((DATA / "kineto").glob("*.gz"))
        for file in files:
            with self.subTest(file.name):
                run = self.imported(file)
                again = self.imported(pathlib.Path(self.export(run, "chrome", "again.json")))
                first, second = self.report(run), self.report(again)
                self.assertEqual(cells(second), cells(first))
                for one, other in zip(second["processes"], first["processes"]):
                    self.assertEqual(one["operations"], other["operations"])
                subprocess.run(["rm", "-r", again], check=True)

    def test_everything_of_a_recorded_run_is_json(self):
        with open(self.export(self.example, "chrome", "x.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        scopes = [e for e in events if e["name"] == ODD_NAME]
        self.assertEqual([(e["ts"], e["dur"]) for e in scopes], [(0.5, 0.2)])
        self.assertEqual(len([e for e in events if e["cat"] == "kernel"]), 4)
        self.assertEqual(len([e for e in events if e["ph"] == "s"]), 3)
        ranges = [e for e in events if e["name"] == "inner" and e["ts"] == 0.65]
        self.assertEqual([(e["tid"], e["dur"]) for e in ranges], [(100, 0.55)])


class Tables(Exports):
    def test_sums_are_those_of_the_report(self):
        for run in self.runs():
            with self.subTest(run):
                wanted = sum(process["gpu_sum_ns"] for process in self.report(run)["processes"])
                database = self.database(run)
                found = database.execute("SELECT sum(gpu_sum_ns) FROM operation").fetchone()
                self.assertEqual(found, (wanted,))
                in_span = database.execute(
                    "SELECT coalesce(sum(max(0, min(gpu.end_ns, process.end_ns) -"
                    " max(gpu.begin_ns, process.begin_ns))), 0) FROM gpu JOIN process"
                    " USING(process)").fetchone()
                self.assertEqual(in_span, (wanted,))

    def test_what_is_stored_is_what_a_query_says(self):
        database = self.database(self.example)
        tables = [name for name, in database.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name <> 'export'")]
        self.assertIn("gpu", tables)
        for table in tables:
            out = gpubound("sql", self.example, "--json", f'SELECT * FROM "{table}"').stdout
            rows = [tuple(row.values()) for row in json.loads(out)]
            self.assertEqual(rows, database.execute(f'SELECT * FROM "{table}"').fetchall(), table)

    def test_the_csv_files_hold_the_same_rows(self):
        folder = self.export(self.example, "csv", "tables")
        database = self.database(self.example)
        for file in sorted(pathlib.Path(folder).iterdir()):
            with open(file, newline="", encoding="utf-8") as text:
                rows = list(csv.reader(text))
            stored = database.execute(f'SELECT * FROM "{file.stem}"').fetchall()
            wanted = [["" if value is None else str(value) for value in row] for row in stored]
            if file.stem != "device_usage":  # reals, which are not written alike
                self.assertEqual(rows[1:], wanted, file.stem)
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_the_csv_report_holds_the_operations(self):
        text = gpubound("report", self.example, "--csv").stdout.decode()
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
        wanted = [(process["pid"], row["operation"], row["wall_ns"], row["gpu_caused_ns"])
                  for process in self.report(self.example)["processes"]
                  for row in process["operations"]]
        found = [(int(row["pid"]), row["operation"], int(row["wall_ns"]),
                  int(row["gpu_caused_ns"])) for row in rows]
        self.assertEqual(found, wanted)
        self.assertIn(ODD_NAME, [row["operation"] for row in rows])

    def test_a_killed_process_has_its_salvage(self):
        found = self.database(self.example).execute(
            "SELECT begin_ns, end_ns FROM scope WHERE process=2").fetchall()
        self.assertEqual(found, [(4000, 4100), (5000, 5200)])


class Prometheus(Exports):
    def test_a_real_parser_reads_the_figures_of_the_report(self):
        text = pathlib.Path(self.export(self.example, "prometheus", "x.prom")).read_text("utf-8")
        samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
        report = self.report(self.example)
        found = {(s.labels["pid"], s.labels["operation"]): s.value for s in samples
                 if s.name == "gpubound_operation_gpu_seconds" and s.labels["kind"] == "sum"}
        wanted = {(str(process["pid"]), row["operation"]): row["gpu_sum_ns"] / 1e9
                  for process in report["processes"] for row in process["operations"]}
        self.assertEqual(found, wanted)
        self.assertIn(("100", ODD_NAME), found)
        states = collections.Counter()
        for sample in samples:
            if sample.name == "gpubound_operation_seconds":
                states[sample.labels["pid"]] += sample.value
        for process in report["processes"]:
            self.assertAlmostEqual(states[str(process["pid"])], process["span_ns"] / 1e9, places=9)


FORMATS = ("perfetto", "chrome", "sqlite", "csv", "prometheus")


class Files(Exports):
    def test_what_is_there_stays_without_force(self):
        for form in FORMATS:
            with self.subTest(form):
                path = self.path("there-" + form)
                pathlib.Path(path).write_text("mine", "utf-8")
                done = gpubound("export", self.example, f"--{form}", path, status=2)
                self.assertEqual(pathlib.Path(path).read_text("utf-8"), "mine")
                self.assertIn(b"expected nothing there", done.stderr)

    def test_force_replaces_a_file_and_an_earlier_export(self):
        for form in FORMATS:
            with self.subTest(form):
                self.export(self.example, form, "again-" + form)
                self.export(self.example, form, "again-" + form)

    def test_force_does_not_replace_what_is_no_export(self):
        os.mkdir(self.path("thesis"))
        pathlib.Path(self.path("thesis/thesis.tex")).write_text("text", "utf-8")
        for form in FORMATS:
            gpubound("export", self.example, f"--{form}", self.path("thesis"), "--force", status=2)
        self.assertEqual(os.listdir(self.path("thesis")), ["thesis.tex"])

    def test_files_are_private(self):
        for form in FORMATS:
            mode = stat.S_IMODE(os.stat(self.export(self.example, form, "p-" + form)).st_mode)
            self.assertEqual(mode, 0o700 if form == "csv" else 0o600)

    def test_a_failure_leaves_nothing(self):
        for form in FORMATS:
            gpubound("export", self.path("none.gpubound"), f"--{form}", self.path("x"), status=3)
            gpubound("export", self.example, f"--{form}", self.path("no/such/folder"), status=1)
        self.assertEqual(os.listdir(self.folder.name), ["example.gpubound"])

    def test_what_a_damaged_run_lacks_is_said(self):
        for form in ("perfetto", "chrome", "sqlite", "csv"):
            with self.subTest(form):
                done = gpubound("export", self.damaged(), f"--{form}", self.path("d-" + form))
                self.assertIn(b"read in part only", done.stderr)

    def test_parquet_names_the_way(self):
        done = gpubound("export", self.example, "--parquet", self.path("x"), status=2)
        self.assertIn(b"duckdb", done.stderr)
        self.assertNotIn(b"--parquet", gpubound("export", "--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
