#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `gpubound export` writes, read by other tools' own code: exports_test.py GPUBOUND EXAMPLE_RUN
DATA. Needs requirements.txt beside this file."""
import collections
import csv
import json
import os
import pathlib
import stat
import subprocess

from prometheus_client.parser import text_string_to_metric_families

from exports_fixture import DATA, EXAMPLE_RUN, GPUBOUND, Exports, ODD_NAME, gpubound, main

MS = 1_000_000


def stepping_trace(path):
    """A trace of a warm-up and three iterations of 10 us, the last two with a kernel of 5 us each."""
    events = [{"ph": "X", "cat": "user_annotation", "pid": 4, "tid": 5, "name": "train", "ts": 0, "dur": 40}]
    for step in range(4):
        events.append({"ph": "X", "cat": "user_annotation", "pid": 4, "tid": 5,
                       "name": f"ProfilerStep#{step}", "ts": 10 * step, "dur": 10})
    for step in (2, 3):
        launch = {"correlation": step, "device": 0, "stream": 7}
        events.append({"ph": "X", "cat": "cuda_runtime", "pid": 4, "tid": 5, "name": "cudaLaunchKernel",
                       "ts": 10 * step + 1, "dur": 1, "args": launch})
        events.append({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "name": "gemm",
                       "ts": 10 * step + 3, "dur": 5, "args": launch})
    pathlib.Path(path).write_text(json.dumps(events), "utf-8")
    return pathlib.Path(path)


def cells(report):
    return [sorted((cell["phase"], cell["operation"], cell["layer"], cell["gpu"], cell["ns"])
                   for cell in process["cells"]) for process in report["processes"]]


class Chrome(Exports):
    def test_what_was_imported_comes_back_with_the_same_cells(self):
        files = sorted((DATA / "import").glob("*.json")) + sorted((DATA / "kineto").glob("*.gz"))
        compared = 0
        for file in files:
            with self.subTest(file.name):
                run = self.imported(file)
                if any(cell[3] == "unknown" for process in cells(self.report(run)) for cell in process):
                    continue  # the format has no word for time of which nothing is known
                compared += 1
                again = self.imported(pathlib.Path(self.export(run, "chrome", "again.json")))
                first, second = self.report(run), self.report(again)
                self.assertEqual(cells(second), cells(first))
                for one, other in zip(second["processes"], first["processes"]):
                    self.assertEqual(one["operations"], other["operations"])
                subprocess.run(["rm", "-r", again], check=True)
        self.assertGreater(compared, 30)

    def test_everything_of_a_recorded_run_is_json(self):
        with open(self.export(self.example, "chrome", "x.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        scopes = [e for e in events if e["name"] == ODD_NAME]
        self.assertEqual([(e["ts"], e["dur"]) for e in scopes], [(0.5, 0.2)])
        self.assertEqual(len([e for e in events if e["cat"] == "kernel"]), 4)
        self.assertEqual(len([e for e in events if e["ph"] == "s"]), 3)
        ranges = [e for e in events if e["name"] == "inner" and e["ts"] == 0.65]
        self.assertEqual([(e["tid"], e["dur"]) for e in ranges], [(100, 0.55)])


    def test_a_counter_that_is_no_number_is_left_out(self):
        subprocess.run([EXAMPLE_RUN, self.path("odd.gpubound"), "odd_values"], check=True)
        with open(self.export(self.path("odd.gpubound"), "chrome", "x.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual([e["args"]["value"] for e in events if e["ph"] == "C"], [1.5, 2.5])


class Iterations(Exports):
    def test_those_of_every_format_are_those_of_the_report(self):
        run = self.asked()
        told = self.database(run).execute("SELECT number, begin_ns, end_ns FROM iteration").fetchall()
        self.assertEqual(told, [(4 + i, (800 + 100 * i) * MS, (900 + 100 * i) * MS) for i in range(3)])
        seen = [(item.details["number"], item.begin, item.end)
                for item in self.perfetto(run).slices if item.category == "iteration"]
        self.assertEqual(seen, told)
        with open(self.export(run, "chrome", "x.json"), encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e["name"].startswith("ProfilerStep#")]
        self.assertEqual([(int(e["name"].split("#")[1]), round(e["ts"] * 1000),
                           round((e["ts"] + e["dur"]) * 1000)) for e in events], told)

    def test_any_thread_may_begin_or_end_one(self):
        run = self.path("two.gpubound")
        subprocess.run([EXAMPLE_RUN, run, "two_threads"], check=True)
        told = self.database(run).execute("SELECT number, begin_ns, end_ns FROM iteration").fetchall()
        self.assertEqual(told, [(0, 100, 300), (1, 300, 350), (2, 350, 500)])
        seen = [(item.details["number"], item.begin, item.end)
                for item in self.perfetto(run).slices if item.category == "iteration"]
        self.assertEqual(sorted(seen), told)


class Compacted(Exports):
    def test_that_older_events_are_gone_is_said(self):
        run = self.thinned()
        self.assertIn(b"older events are gone", gpubound("sql", run, "SELECT count(*) FROM gpu").stderr)
        for form in ("perfetto", "chrome", "sqlite", "csv", "parquet"):
            done = gpubound("export", run, f"--{form}", self.path("thinned-" + form))
            self.assertIn(b"older events are gone", done.stderr)
        self.assertEqual(gpubound("export", run, "--prometheus", self.path("thinned.prom")).stderr, b"")

    def test_figures_are_of_the_operations_that_it_was_summed_with(self):
        run = self.path("summed.gpubound")
        subprocess.run([EXAMPLE_RUN, run, "iterating"], check=True)
        gpubound("compact", run, "--window", "250ms", "--operations", "all")
        told = json.loads(gpubound("report", run, "--operations", "all", "--json").stdout)
        wanted = [(row["operation"], row["wall_ns"]) for row in told["processes"][0]["operations"]]
        rows = json.loads(gpubound("sql", run, "--json", "SELECT operation, wall_ns FROM operation").stdout)
        self.assertEqual([tuple(row.values()) for row in rows], wanted)
        stored = self.database(run).execute("SELECT operation, wall_ns FROM operation").fetchall()
        self.assertEqual(stored, wanted)
        with open(self.export(run, "csv", "tables") + "/operation.csv", newline="", encoding="utf-8") as text:
            self.assertEqual([(row["operation"], int(row["wall_ns"])) for row in csv.DictReader(text)], wanted)
        metrics = pathlib.Path(self.export(run, "prometheus", "x.prom")).read_text("utf-8")
        for name, _ in wanted:
            self.assertIn(f'operation="{name}"', metrics)


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

    def test_ratios_of_the_iterations_and_of_the_whole_run_are_apart(self):
        run = self.imported(stepping_trace(self.path("steps.json")))
        text = pathlib.Path(self.export(run, "prometheus", "x.prom")).read_text("utf-8")
        values = {(s.name, s.labels.get("class")): s.value
                  for family in text_string_to_metric_families(text) for s in family.samples}
        self.assertAlmostEqual(values["gpubound_run_gpu_busy_ratio", "any"], 1 / 3)
        self.assertEqual(values["gpubound_run_whole_gpu_busy_ratio", None], 0.25)
        self.assertEqual(values["gpubound_run_headline_seconds", None], 30e-6)

    def values(self, run):
        text = pathlib.Path(self.export(run, "prometheus", "bounds.prom")).read_text("utf-8")
        return {(s.name.removeprefix("gpubound_run_"), s.labels.get("class")): s.value
                for family in text_string_to_metric_families(text) for s in family.samples}

    def test_what_unknown_time_may_add_to_is_a_range(self):
        def unknown_of(run):
            return sum(row["unknown_ns"] for process in self.report(run)["processes"]
                       for row in process["operations"])
        run = max(self.runs(), key=unknown_of)
        values, unknown = self.values(run), unknown_of(run)
        wanted = min(unknown / 1e9 / values["wall_seconds", None],
                     1 - values["whole_gpu_busy_ratio", None])
        self.assertGreater(wanted, 0)
        self.assertAlmostEqual(values["whole_gpu_unknown_ratio", None], wanted)
        self.assertAlmostEqual(values["whole_gpu_busy_high_ratio", None],
                               values["whole_gpu_busy_ratio", None] + wanted)
        for work in ("any", "compute", "comm", "copy"):
            busy = values["gpu_busy_ratio", work]
            self.assertEqual(values["gpu_busy_low_ratio", work], busy)
            self.assertAlmostEqual(values["gpu_busy_high_ratio", work],
                                   min(1, busy + values["gpu_unknown_ratio", None]))

    def test_what_is_known_is_no_range(self):
        values = self.values(self.imported(stepping_trace(self.path("known.json"))))
        self.assertEqual(values["gpu_unknown_ratio", None], 0)
        self.assertEqual(values["gpu_busy_low_ratio", "any"], values["gpu_busy_ratio", "any"])
        self.assertEqual(values["gpu_busy_high_ratio", "any"], values["gpu_busy_ratio", "any"])


FORMATS = ("perfetto", "chrome", "sqlite", "csv", "parquet", "prometheus")


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

    def test_two_formats_in_one_file_are_refused_however_it_is_called(self):
        for one, other in (("x", "./x"), ("x", self.path("x")), ("./x", "x")):
            done = subprocess.run([GPUBOUND, "export", self.example, "--chrome", one, "--perfetto", other,
                                   "--force"], cwd=self.folder.name, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"name one file", done.stderr)

    def test_force_does_not_replace_a_file_of_the_run(self):
        record = pathlib.Path(self.example) / "run.json"
        record.write_text('{"format": "gpubound.run.v1"}', "utf-8")
        before = {file.name: file.read_bytes() for file in pathlib.Path(self.example).iterdir()}
        self.assertGreater(len(before), 2)
        for name in before:
            place = os.path.join(self.example, name)
            for form in FORMATS:
                done = gpubound("export", self.example, f"--{form}", place, "--force", status=2)
                self.assertIn(b"expected nothing there", done.stderr)
            gpubound("report", self.example, "--html", place, "--force", status=2)
        self.assertEqual({file.name: file.read_bytes()
                          for file in pathlib.Path(self.example).iterdir()}, before)

    def test_an_export_may_lie_in_the_run(self):
        for _ in range(2):
            self.export(self.example, "prometheus", os.path.join(self.example, "train.prom"))

    def test_a_link_to_an_empty_folder_leads_to_the_export(self):
        for form in ("csv", "parquet"):
            os.mkdir(self.path("target-" + form))
            os.symlink("target-" + form, self.path("link-" + form))
            gpubound("export", self.example, f"--{form}", self.path("link-" + form))
            self.assertTrue(os.path.islink(self.path("link-" + form)))
            self.assertIn("process." + form, os.listdir(self.path("target-" + form)))

    def test_the_folder_that_it_runs_in_is_refused(self):
        os.mkdir(self.path("here"))
        for name in (".", "./", self.path("here")):
            done = subprocess.run(
                [GPUBOUND, "export", self.example, "--csv", name], cwd=self.path("here"),
                capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"the folder that this runs in", done.stderr)
            self.assertIn(b"such as ", done.stderr)
            self.assertEqual(os.listdir(self.path("here")), [])

    def test_files_are_private(self):
        for form in FORMATS:
            mode = stat.S_IMODE(os.stat(self.export(self.example, form, "p-" + form)).st_mode)
            self.assertEqual(mode, 0o700 if form in ("csv", "parquet") else 0o600)

    def test_a_failure_leaves_nothing(self):
        for form in FORMATS:
            gpubound("export", self.path("none.gpubound"), f"--{form}", self.path("x"), status=3)
            gpubound("export", self.example, f"--{form}", self.path("no/such/folder"), status=1)
        self.assertEqual(os.listdir(self.folder.name), ["example.gpubound"])

    def test_what_a_damaged_run_lacks_is_said(self):
        for form in ("perfetto", "chrome", "sqlite", "csv", "parquet"):
            with self.subTest(form):
                done = gpubound("export", self.damaged(), f"--{form}", self.path("d-" + form))
                self.assertIn(b"read in part only", done.stderr)


if __name__ == "__main__":
    main()
