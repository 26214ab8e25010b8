#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of what a run has several of, hosts and devices, and of what only some traces have, graphs
recorded as a whole and ranges that serve as operations: hosts_test.py GPUBOUND EXAMPLE_RUN DATA."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess

import duckdb
import polars

from exports_fixture import DATA, Exports, gpubound, main

EPOCH_NS = 1_700_000_000_000_000_000
SESSION = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm'), (3, 'cudaGraphLaunch');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, correlationId INT, deviceId INT,
    contextId INT, streamId INT, shortName INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, globalPid INT, correlationId INT,
    deviceId INT, contextId INT, streamId INT, graphId INT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);
CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, text TEXT);
"""
PID, TID = 42 << 24, (42 << 24) + 42


class Hosts(Exports):
    def session(self, host, begin_ns, rows):
        """An imported session on |host| that began |begin_ns| after the other one."""
        file = pathlib.Path(self.path(host + ".sqlite"))
        file.unlink(missing_ok=True)
        with sqlite3.connect(file) as database:
            database.executescript(SESSION)
            database.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', ?)", (host,))
            database.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)",
                             (EPOCH_NS + begin_ns,))
            database.execute("INSERT INTO NVTX_EVENTS VALUES (1000, 9000, ?, 'step')", (TID,))
            for table, *values in rows:
                places = ", ".join("?" * len(values))
                database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES ({places})", values)
        subprocess.run(["rm", "-rf", str(file) + ".gpubound"], check=True)
        run = self.imported(file)
        for segment in pathlib.Path(run).glob("*.db"):
            with sqlite3.connect(segment) as database:  # as a recorded trace has it
                database.execute("INSERT INTO clock (ticks, monotonic_ns, realtime_ns) VALUES (0, 0, ?)",
                                 (EPOCH_NS + begin_ns,))
        return run

    def two_hosts(self, first="a", second="b"):
        rows = [("RUNTIME", 2000, 2500, TID, 1, 1), ("KERNEL", 3000, 5000, PID, 1, 0, 1, 7, 2)]
        run = self.session(first, 0, rows)
        other = self.session(second, 100_000, rows)
        for name in os.listdir(other):
            if name.endswith(".db"):
                os.rename(os.path.join(other, name), os.path.join(run, name))
        return run

    def chrome(self, run):
        with open(self.export(run, "chrome", "x.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_times_of_hosts_are_those_of_one_clock(self):
        for names in (("a", "b"), ("z", "b")):
            with self.subTest(names):
                run = self.two_hosts(*names)
                kernels = sorted(e["ts"] for e in self.chrome(run)["traceEvents"] if e.get("cat") == "kernel")
                self.assertAlmostEqual(kernels[1] - kernels[0], 100, places=3)
                trace = self.perfetto(run)
                self.assertEqual(trace.errors, [])
                kernels = sorted(s.begin for s in trace.slices if s.category == "compute")
                self.assertEqual(kernels[1] - kernels[0], 100_000)

    def test_parquet_has_a_folder_for_each_machine(self):
        run = self.two_hosts()
        folder = pathlib.Path(self.export(run, "parquet", "tables"))
        database = sqlite3.connect(self.export(run, "sqlite", "run.db"))
        tables = [name for name, in database.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name <> 'export'")]
        of_processes = {name for name in tables if "process" in {
            row[1] for row in database.execute(f"PRAGMA table_info({name})")}}
        top = {f"{name}.parquet" for name in set(tables) - of_processes}
        self.assertIn("machine.parquet", top)
        self.assertEqual({file.name for file in folder.iterdir()}, top | {"machine=a", "machine=b"})
        self.assertEqual({file.stem for file in (folder / "machine=a").iterdir()}, of_processes)
        self.assertEqual({file.name for file in (folder / "machine=a").iterdir()},
                         {file.name for file in (folder / "machine=b").iterdir()})
        every = f"read_parquet('{folder}/machine=*/gpu.parquet', hive_partitioning = true)"
        rows = duckdb.sql(f"SELECT machine, host, run_begin_ns, begin_ns FROM {every} ORDER BY 1").fetchall()
        self.assertEqual([(machine, host) for machine, host, _, _ in rows], [("a", "a"), ("b", "b")])
        self.assertEqual(rows[1][2] - rows[0][2], 100_000, "by one clock")
        self.assertEqual(rows[1][3], rows[0][3], "each by its own")
        stored = database.execute(
            "SELECT operation, sum(wall_ns) FROM operation GROUP BY 1 ORDER BY 1").fetchall()
        found = duckdb.sql(f"SELECT operation, sum(wall_ns) FROM '{folder}/**/operation.parquet' GROUP BY 1 ORDER BY 1")
        self.assertEqual(found.fetchall(), stored)
        self.assertEqual(duckdb.sql(f"SELECT host, processes FROM '{folder}/machine.parquet' ORDER BY 1").fetchall(),
                         [("a", 1), ("b", 1)])
        self.export(run, "parquet", "tables")  # replaces all of it
        self.assertEqual(len(list(folder.iterdir())), len(top) + 2)
        (folder / "machine=a" / "notes.txt").write_text("mine", encoding="utf-8")
        refused = gpubound("export", run, "--parquet", folder, "--force", status=2)
        self.assertIn("a folder that is not empty", refused.stderr.decode())
        self.assertTrue((folder / "machine=a" / "notes.txt").exists())

    def test_examples_of_the_docs_work(self):
        page = (DATA.parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
        section = page.partition("### As Parquet")[2].partition("\n## ")[0]
        examples = [line.strip() for line in section.splitlines() if line.startswith("    ")]
        self.assertEqual(len(examples), 4)
        one, two = self.export(self.example, "parquet", "one"), self.export(self.two_hosts(), "parquet", "two")
        for example in examples:
            for folder in (one, two) if "**" in example else (one,):
                with self.subTest(example=example, folder=folder):
                    code = example.replace("DIR", folder)
                    if code.startswith("duckdb"):
                        rows = duckdb.sql(code.partition('"')[2].rpartition('"')[0]).fetchall()
                    else:
                        rows = eval(code, {"polars": polars}).lazy().collect().rows()
                    self.assertGreater(len(rows), 0)

    def test_devices_of_two_hosts_are_two(self):
        document = self.chrome(self.two_hosts())
        self.assertEqual([device["id"] for device in document["deviceProperties"]], [0, 1])
        kernels = [e["args"]["device"] for e in document["traceEvents"] if e.get("cat") == "kernel"]
        self.assertEqual(sorted(kernels), [0, 1])

    def test_chrome_json_brings_back_graphs_and_ranges_that_serve_as_operations(self):
        run = self.session("a", 0, [("RUNTIME", 2000, 2500, TID, 1, 3),
                                    ("GRAPH_TRACE", 3000, 5000, PID, 1, 0, 1, 7, 9)])
        again = self.imported(pathlib.Path(self.export(run, "chrome", "again.json")))
        first, second = self.report(run), self.report(again)
        self.assertTrue(first["run"]["gpu_busy_is_upper_bound"])
        for report in first, second:
            self.assertEqual(report["run"]["gpu_busy_is_upper_bound"], True)
            self.assertIn("step", [row["operation"] for row in report["processes"][0]["operations"]])
        self.assertEqual(second["run"]["gpu_busy_share"], first["run"]["gpu_busy_share"])

    def test_perfetto_shows_an_imported_call_once(self):
        run = self.imported(pathlib.Path(self.trace_of_one_call()))
        shown = collections.Counter(item.name for item in self.perfetto(run).slices)
        self.assertEqual(shown["cudaLaunchKernel"], 1)

    def trace_of_one_call(self):
        events = [{"ph": "X", "cat": "cpu_op", "pid": 4, "tid": 5, "name": "aten::mm", "ts": 0, "dur": 9},
                  {"ph": "X", "cat": "cuda_runtime", "pid": 4, "tid": 5, "name": "cudaLaunchKernel", "ts": 1,
                   "dur": 1}]
        pathlib.Path(self.path("call.json")).write_text(json.dumps(events), "utf-8")
        return self.path("call.json")


if __name__ == "__main__":
    main()
