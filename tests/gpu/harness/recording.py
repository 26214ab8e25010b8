# SPDX-License-Identifier: Apache-2.0
"""One run of gpubound: how the command ended, and what the run directory holds, asked in four ways:
the report, trace_facts, rows of the databases, and the ledger."""
import functools
import json
import sqlite3


class Recording:
    def __init__(self, machine, path, outcome):
        self.machine = machine
        self.path = path
        self.outcome = outcome

    @functools.cached_property
    def said(self):
        """The last line of the program's stdout, which is its own account of itself."""
        return account_of(self.outcome)

    @functools.cached_property
    def report(self):
        return json.loads(self.machine.tool("report", self.path, "--json").out)

    def has_report(self):
        """Whether anything of the program was recorded."""
        return self.machine.tool("report", self.path, "--json").status == 0

    @functools.cached_property
    def text(self):
        return self.machine.tool("report", self.path).out

    @functools.cached_property
    def facts(self):
        """Of each process. Loads the whole run: not for the longest ones."""
        found = self.machine.command([self.machine.bundle / "bin/trace_facts", self.path])
        return json.loads(found.out)

    @property
    def process(self):
        """The facts of the process with the most device work."""
        return max(self.facts, key=lambda one: sum(one["work"]["kinds"].values()))

    @functools.cached_property
    def counters(self):
        """The words of a list that names every counter, whatever it counts."""
        return set(self.machine.tool("doctor", self.path, "--all").out.split())

    def ledger(self, counter):
        """A name that is misspelt, or that there is no longer, would count 0."""
        if counter not in self.counters:
            raise KeyError(counter)
        return sum(entry["value"] for entry in self.report["ledger"]
                   if entry["counter"] == counter)

    def rows(self, query):
        found = []
        for database in sorted(self.path.glob("*.db")):
            with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
                found.extend(connection.execute(query).fetchall())
        return found

    def events(self, family):
        """Events of a family (proto/event_model.h), without decoding any."""
        return sum(row[0] or 0 for row in self.rows(
            f"select sum(event_count) from chunk where family = {int(family)}"))

    def most_resident_bytes(self):
        """Of the whole process tree, as far as it was sampled (GPUBOUND_SAMPLE_MS)."""
        return max((row[0] for row in self.rows("select resident_bytes from process_tree")), default=0)

    def unknown_ns(self):
        """GPU time of which the report says that nobody knows it, over all processes."""
        return sum(row["unknown_ns"] for process in self.report["processes"]
                   for row in process["operations"])

    def cells_ns(self, phase, gpu=lambda state: True):
        """Time in the cells of |phase| whose GPU state |gpu| accepts, over all processes."""
        return sum(cell["ns"] for process in self.report["processes"] for cell in process["cells"]
                   if cell["phase"] == phase and gpu(cell["gpu"]))


def is_busy(state):
    return state not in ("idle", "unknown")


def account_of(outcome):
    for line in reversed(outcome.out.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {}


def check_sound(verdict, recording, what, device_kind):
    """What holds for every report of a run in which a device worked. Also keeps the report."""
    report = recording.report
    verdict.add_report(what, recording.text)
    verdict.equal(report["device_kind"], device_kind, f"{what}: the device is {device_kind}")
    for process in report["processes"]:
        cells = sum(cell["ns"] for cell in process["cells"])
        rows = sum(row["wall_ns"] for row in process["operations"])
        if cells != process["span_ns"] or rows != process["span_ns"]:
            verdict.check(False, f"{what}: cells and rows of pid {process['pid']} sum to its span",
                          f"cells {cells}, rows {rows}, span {process['span_ns']}")
            return
    verdict.check(True, f"{what}: cells and rows of every process sum to its span",
                  f"{len(report['processes'])} processes")
    busy = max(process["gpu_busy_ns"] for process in report["processes"])
    verdict.check(busy > 0, f"{what}: the device was busy", f"{busy / 1e6:.3f} ms")
