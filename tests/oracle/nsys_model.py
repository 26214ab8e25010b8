# SPDX-License-Identifier: Apache-2.0
"""Reads an Nsight Systems export for the oracle, and what it lacks.

Shares no code with gpubound and no library beyond Python's own. Everything is held in memory.
"""
import collections
import math
import re
import sqlite3

from foreign_model import (LIBRARY_RANGES, Event, Process, Trace, Work, call_layer, comm_patterns,
                           kernel_class, launches_one_kernel, other_ends, strip_version)
from launch_model import assign

FURTHEST_NS = 2**62  # no clock gets farther from zero
LIBRARY_DOMAINS = re.compile(
    r"(nccl.*|nvshmem.*|tsl|tsl:.*|xla|xla:.*|cublas.*|cudnn.*|cusparse.*|cusolver.*|cufft.*|cub|cccl"
    r"|thrust)$", re.IGNORECASE)
WORK_TABLES = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
LAUNCHES = re.compile(r"(cuda|hip|cu)(Memcpy|Memset|GraphLaunch|Launch(?!HostFunc))")
LAUNCHED = {"Memcpy": "MEMCPY", "Memset": "MEMSET", "GraphLaunch": "GRAPH_TRACE", "Launch": "KERNEL"}
CAPTURES = re.compile(r"(cuda|hip|cu)StreamBeginCapture")
ALWAYS = (-math.inf, math.inf)


def pid_of(global_id):
    return global_id >> 24 & 0xffffff


class Export:
    """The rows that can be read, by table; what is missing is counted."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        self.tables = {row[0] for row in self.database.execute("SELECT name FROM sqlite_schema")}
        self.incomplete = set()
        self.names_missing = 0
        self.strings = {row["id"]: row["value"] for row in self.rows("StringIds", "id", "value")}

    def columns(self, table):
        return {row[1] for row in self.database.execute(f"PRAGMA table_info({table})")}

    def all_rows(self, table):
        return [dict(row) for row in self.database.execute(f"SELECT * FROM {table}")] \
            if table in self.tables else []

    def rows(self, table, *required):
        """None of a table that lacks a required column."""
        found = self.all_rows(table)
        if found and not self.columns(table).issuperset(required):
            self.incomplete.add(table)
            return []
        return found

    def started_rows(self, name, *required):
        """Those that end before they begin count for nothing; what is no number is no end."""
        for row in self.rows("CUPTI_ACTIVITY_KIND_" + name, "start", "end", *required):
            start, end = (time if isinstance(time, int) else None
                          for time in (row["start"], row["end"]))
            if start is not None and abs(start) < FURTHEST_NS and (end is None or start <= end):
                yield {**row, "end": end}

    def timed_rows(self, name, *required):
        return [row for row in self.started_rows(name, *required) if row["end"] is not None]

    def text(self, row, ids, otherwise, texts=()):
        """The first name that |row| has. One that it refers to, or would if there were the columns, is
        missing."""
        given = [row[column] for column in texts if row.get(column)]
        given += [self.strings[row[column]] for column in ids if self.strings.get(row.get(column))]
        if given:
            return given[0]
        dangles = any(row.get(column) is not None and row[column] not in self.strings
                      for column in ids)
        self.names_missing += dangles or not any(column in row for column in texts or ids)
        return otherwise


class Reader:
    def __init__(self, export):
        self.export = export
        self.names = {pid_of(row["globalPid"]): row["name"] for row in export.all_rows("PROCESSES")}
        self.visible = {(row["pid"], row["cudaId"]): row["gpuId"]
                        for row in export.all_rows("TARGET_INFO_CUDA_DEVICE")}
        self.processes = {}
        self.work = []
        self.order = 0
        self.launches = collections.Counter()  # (pid, table)
        self.captures = set()  # pids
        self.works = set()  # (pid or None, table)
        self.in_graphs = set()  # pids or None

    def process_of(self, global_id):
        pid = pid_of(global_id)
        if pid not in self.processes:
            python = self.names.get(pid, "").split("/")[-1].startswith("python")
            self.processes[pid] = Process(pid, base="python" if python else "native",
                                          busiest_reports=False, calls_nest=False)
        return self.processes[pid]

    def add(self, global_id, row, name, **what):
        self.order += 1
        thread = self.process_of(global_id).threads.setdefault(global_id & 0xffffff, [])
        thread.append(Event(row["start"], row["end"], self.order, name, **what))

    def read_calls(self):
        for table in ("RUNTIME", "DRIVER"):
            for row in self.export.timed_rows(table, "globalTid"):
                if row["globalTid"] is None:
                    continue
                name = strip_version(self.export.text(row, ["nameId"], "(unnamed)"))
                self.add(row["globalTid"], row, name, layer=call_layer(name), call=True,
                         correlation=row.get("correlationId") or 0,
                         one_kernel=launches_one_kernel(name) and not row.get("returnValue"))
                launch, pid = LAUNCHES.match(name), pid_of(row["globalTid"])
                if launch and not row.get("returnValue"):
                    self.launches[(pid, LAUNCHED[launch.group(2)])] += 1
                if CAPTURES.match(name):
                    self.captures.add(pid)

    def read_ranges(self):
        rows = self.export.rows("NVTX_EVENTS", "start", "end", "globalTid")
        names = ["textId"], "(unnamed)", ["text"]
        domains = {(pid_of(row["globalTid"]), row["domainId"]): self.export.text(row, *names)
                   for row in rows if row.get("eventType") == 75}
        for row in rows:
            if row.get("eventType", 59) not in (59, 60) or abs(row["start"]) >= FURTHEST_NS or \
                    row["globalTid"] is None or isinstance(row["end"], int) and row["end"] < row["start"]:
                continue
            text = self.export.text(row, *names)
            domain = domains.get((pid_of(row["globalTid"]), row.get("domainId")), "")
            self.add(row["globalTid"], row, text,
                     operation=not (LIBRARY_DOMAINS.match(domain) or LIBRARY_RANGES.match(text)))

    def read_work(self, patterns):
        rows = [(table, row) for table in WORK_TABLES for row in self.export.started_rows(table)]
        ends = [row["end"] for _, row in rows if row["end"] is not None]
        ends += [event.end for process in self.processes.values()
                 for thread in process.threads.values() for event in thread]
        for table, row in rows:
            end = row["end"] if row["end"] is not None else max([row["start"], *ends])
            kind = "copy"
            if table == "KERNEL":
                kind = kernel_class(self.export.text(
                    row, ["demangledName", "shortName", "mangledName"], "(unnamed kernel)"), patterns)
            elif table == "GRAPH_TRACE":
                kind = "compute"
            pid = None
            if row.get("globalPid") is not None:
                pid = self.process_of(row["globalPid"]).pid
            self.works.add((pid, table))
            if table == "GRAPH_TRACE" or row.get("graphNodeId", 1):
                self.in_graphs.add(pid)

            def gpu(column, pid=pid, row=row):
                return self.visible.get((pid, row.get(column)), row.get(column))

            self.work.append(Work(row["start"], end, kind, row.get("correlationId") or 0, pid,
                                  gpu("deviceId") or 0, ended=row["end"] is not None,
                                  timed=row["start"] != 0 or end != 0 or row["end"] is None,
                                  stream=(row.get("contextId") or 0, row.get("streamId") or 0)))
            if table == "MEMCPY" and row.get("copyKind") in (5, 6, 7, 8, 10):
                self.work.extend(other_ends(self.work[-1], (gpu("srcDeviceId"), row.get("srcContextId")),
                                            (gpu("dstDeviceId"), row.get("dstContextId"))))

    def hidden(self):
        """The pids whose GPU time is unknown, and how many calls launched work that is not there."""
        unread = {table for table in WORK_TABLES
                  if "CUPTI_ACTIVITY_KIND_" + table in self.export.incomplete}
        has = self.works | {(None, table) for table in unread}
        in_graphs = self.in_graphs | ({None} if unread else set())
        calls_unread = self.export.incomplete & {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                                 "CUPTI_ACTIVITY_KIND_DRIVER"}
        nothing = not any(self.export.all_rows("CUPTI_ACTIVITY_KIND_" + table)
                          for table in WORK_TABLES)
        pids, calls = set(), 0
        for (pid, table), count in self.launches.items():
            graphs = has & {(pid, "GRAPH_TRACE"), (None, "GRAPH_TRACE")}
            there = has & {(pid, table), (None, table)} or (
                in_graphs & {pid, None} if table == "GRAPH_TRACE" else
                pid in self.captures and graphs)
            if not there:
                pids.add(pid)
                calls += count
        return set(self.processes) if unread or calls_unread and nothing else pids, calls


def read_nsys(path):
    export = Export(path)
    reader = Reader(export)
    reader.read_calls()
    reader.read_ranges()
    reader.read_work(comm_patterns())
    export.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start", "end")
    pids, calls = reader.hidden()
    processes, lost = assign(list(reader.processes.values()), reader.work)
    for process in processes:
        if process.pid in pids:
            process.unknown.append(ALWAYS)
    return Trace(processes, lost, incomplete_tables=len(export.incomplete), launches_without_work=calls,
                 names_missing=export.names_missing)
