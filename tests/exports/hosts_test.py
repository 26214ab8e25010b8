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

from exports_fixture import Exports, main

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
