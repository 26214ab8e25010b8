#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports foreign traces with gpubound and compares every figure of the report with brute force.

import_oracle.py GPUBOUND FILE...: exits 1 and prints each difference. A file NAME.sql is made into a
database first. Hand-written files state what is right, a Chrome trace in a member "expected", SQL in
a comment; both sides have to meet it.
"""
import collections
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import brute_force
import foreign_model
import nsys_model

COLUMNS = ["wall_ns", "cpu_only_ns", "cpu_gpu_ns", "gpu_only_ns", "waiting_ns", "idle_ns",
           "unknown_ns", "gpu_busy_ns", "gpu_compute_ns", "gpu_comm_ns", "gpu_copy_ns",
           "gpu_wait_ns", "gpu_caused_ns", "gpu_sum_ns", "count", "inclusive_wall_ns"]


class Comparison:
    def __init__(self):
        self.compared = 0
        self.differences = []

    def same(self, what, reported, right):
        self.compared += 1
        if reported != right:
            self.differences.append(f"{what}: the report says {reported}, right is {right}")


def run(command, expected=0):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != expected:
        sys.exit(f"{' '.join(command)} exits {result.returncode}:\n{result.stderr}{result.stdout}")
    return result.stdout


def report_of(gpubound, file):
    with tempfile.TemporaryDirectory() as folder:
        imported = str(pathlib.Path(folder) / "run.gpubound")
        run([gpubound, "import", str(file), "-o", imported])
        run([gpubound, "report", imported])
        report = json.loads(run([gpubound, "report", imported, "--json"]))
        errors = any(entry["severity"] == "error" for entry in report["ledger"])
        run([gpubound, "doctor", imported], expected=1 if errors else 0)
        return report


def compare_process(right, reported, comparison):
    pid = right.process.pid
    comparison.same(f"{pid} span", reported["span_ns"], right.end - right.begin)
    cells = collections.Counter({(c["operation"], c["layer"], c["gpu"]): c["ns"]
                                 for c in reported["cells"]})
    for cell in set(cells) | set(right.cells):
        comparison.same(f"{pid} cell {cell}", cells[cell], right.cells[cell])
    rows = {row["operation"]: row for row in reported["operations"]}
    right_rows = right.rows()
    comparison.same(f"{pid} operations", sorted(rows), sorted(right_rows))
    for name in set(rows) & set(right_rows):
        for column in COLUMNS:
            comparison.same(f"{pid} {name} {column}", rows[name][column], right_rows[name][column])
    transitions = {(name, kind): count for name, row in rows.items()
                   for kind, count in row["transitions"].items()}
    comparison.same(f"{pid} transitions", transitions, dict(right.transitions))
    kinds = [reported["queued_gaps"], reported["event_wait_gaps"]]
    comparison.same(f"{pid} queued gaps", tuple(sum(kind[key] for kind in kinds)
                                                for key in ("count", "ns")), right.queued_ns())
    causes = [sum(row["device_idle"].get(cause, 0) for row in reported["operations"])
              for cause in ("queued", "event-wait")]
    comparison.same(f"{pid} queued time of rows", causes, [kind["ns"] for kind in kinds])
    comparison.same(f"{pid} smi_model", round(reported["smi_model"], 12),
                    round(right.smi_model(), 12))


def compare_iterations(right, reported, comparison):
    """The first iteration is warm-up, unless it is the only one; a foreign trace has no phases."""
    steps = right.iterations()
    if not steps:
        return
    warm = int(len(steps) > 1)
    pid, lengths = right.process.pid, [e.end - e.start for e in steps]
    found = reported["iterations"] or collections.Counter()
    for field, value in {"warm_up": warm, "count": len(steps) - warm,
                         "warm_up_ns": sum(lengths[:warm]), "total_ns": sum(lengths[warm:]),
                         "start_up_ns": steps[0].start - right.begin, "shutdown_ns": right.end - steps[-1].end}.items():
        comparison.same(f"{pid} iterations {field}", found[field], value)


def compare_headline(processes, right, report, comparison):
    """The headline is about the time from the end of the warm-up of the process with the most
    iterations, the first of such, to the end of its last iteration."""
    found = {process.process.pid: process.iterations() for process in processes}
    if None in found.values():
        return
    # By those after warm-up, which is the first of several.
    stepping = max((found[process["pid"]] for process in report["processes"]),
                   key=lambda steps: len(steps) - (len(steps) > 1))
    begin, end = right.begin, right.end
    if stepping:
        begin = stepping[0].end if len(stepping) > 1 else stepping[0].start
        end = stepping[-1].end
    run = report["run"]
    comparison.same("headline", run["headline_ns"], end - begin)
    for name, *kinds in [("gpu_busy_share", *brute_force.ORDER),
                         *((f"{kind}_share", kind) for kind in brute_force.ORDER)]:
        comparison.same(name, round(run[name], 12), round(right.share(begin, end, kinds), 12))


def compare_run(right, report, comparison):
    run = report["run"]
    comparison.same("wall time", run["wall_ns"], right.wall)
    comparison.same("devices used", run["devices_used"], len(right.devices))
    used = [device for device in report["devices"] if device["used"]]
    for number, device in zip(right.devices, used):
        bands = sorted((band["pid"], band["alone_ns"], band["contended_ns"])
                       for band in device["processes"])
        comparison.same(f"device {number}", (device["busy_ns"], bands), right.device(number))
        comparison.same(f"device {number} span", device["span_ns"], right.wall)

    whole = right.share(right.begin, right.end, brute_force.ORDER)
    comparison.same("busy share of the whole", round(run["whole_gpu_busy_share"], 12),
                    round(whole, 12))
    times = [t for _, item in right.work if item.end > item.start for t in (item.start, item.end)]
    begin, end = (min(times), max(times)) if times else (0, 0)
    comparison.same("time of work", run["work_ns"], end - begin)
    if times:
        comparison.same("busy share of the time of work", round(run["work_gpu_busy_share"], 12),
                        round(right.share(begin, end, brute_force.ORDER), 12))


def compare_expected(expected, report, comparison):
    """What the file itself says: cells by process, the ledger, and where it says so the wall time and
    how long each used device was busy."""
    for process in report["processes"]:
        cells = sorted([c["operation"], c["layer"], c["gpu"], c["ns"]] for c in process["cells"]
                       if c["ns"])
        comparison.same(f"{process['pid']} cells by hand", cells,
                        sorted([*cell[:3], int(cell[3])]
                               for cell in expected["cells"].get(str(process["pid"]), [])))
    comparison.same("processes by hand", sorted(str(p["pid"]) for p in report["processes"]),
                    sorted(expected["cells"]))
    if "devices" in expected:
        busy = [device["busy_ns"] for device in report["devices"] if device["used"]]
        comparison.same("devices by hand", busy, [int(ns) for ns in expected["devices"].values()])
    if "wall_ns" in expected:
        comparison.same("wall time by hand", report["run"]["wall_ns"], int(expected["wall_ns"]))
    ledger = {entry["counter"]: entry["value"] for entry in report["ledger"]}
    comparison.same("ledger by hand", ledger,
                    {name: int(value) for name, value in expected.get("ledger", {}).items()})


def expected_of(file):
    if file.suffix == ".sql":
        return json.loads(re.search(r"^-- expected: (.*)$", file.read_text(), re.MULTILINE).group(1))
    if file.suffix != ".json":
        return None
    document = foreign_model.chrome_events(file)[1]
    return document.get("expected") if isinstance(document, dict) else None


def check(gpubound, file):
    if file.suffix != ".sql":
        return check_trace(gpubound, file, expected_of(file))
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / (file.stem + ".sqlite")
        with sqlite3.connect(database) as connection:
            connection.executescript(file.read_text())
        connection.close()
        return check_trace(gpubound, database, expected_of(file))


def read(path):
    with open(path, "rb") as file:
        sqlite = file.read(16) == b"SQLite format 3\0"
    return nsys_model.read_nsys(path) if sqlite else foreign_model.read_chrome(path)


def check_trace(gpubound, file, expected):
    comparison = Comparison()
    trace = read(file)
    report = report_of(gpubound, file)
    comparison.same("device_kind", report["device_kind"], "imported")
    reported = {process["pid"]: process for process in report["processes"]}
    comparison.same("processes", sorted(reported), sorted(p.pid for p in trace.processes))
    ledger = collections.Counter({e["counter"]: e["value"] for e in report["ledger"]})
    comparison.same("unassigned work", ledger["import_work_unassigned"], trace.lost)
    comparison.same("ends of nothing", ledger["unbalanced_scopes"], trace.never_begun)
    comparison.same("breaks off", ledger["import_cut_short"], int(trace.cut_short))
    for counter, right in {"import_tables_incomplete": trace.incomplete_tables,
                           "import_launches_without_work": trace.launches_without_work,
                           "import_times_outlying": trace.timeless,
                           "import_names_missing": trace.names_missing}.items():
        comparison.same(counter, ledger[counter], right)
    right = [brute_force.Evaluation(process) for process in trace.processes]
    comparison.same("adopted scopes", ledger["adopted_scopes"],
                    sum(process.adopted_scopes for process in right))
    unlaunched = sum(process.launch[id(work)] is None and not work.other_end
                     for process in right for work in process.process.work)
    for process in right:
        if process.process.pid in reported:
            compare_process(process, reported[process.process.pid], comparison)
            compare_iterations(process, reported[process.process.pid], comparison)
    run_right = brute_force.RunEvaluation(right)
    compare_run(run_right, report, comparison)
    compare_headline(right, run_right, report, comparison)
    comparison.same("work without launch", ledger["kernels_without_launch"], unlaunched)
    if expected is not None:
        compare_expected(expected, report, comparison)
    for difference in comparison.differences[:40]:
        print(f"{file.name}: {difference}")
    print(f"{file.name}: {comparison.compared} figures compared, "
          f"{len(comparison.differences)} differ")
    return not comparison.differences


def main():
    files = [pathlib.Path(name) for name in sys.argv[2:]]
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        sys.exit(f"there is no file to compare: {', '.join(missing) or 'none was given'}")
    return 0 if all([check(sys.argv[1], file) for file in files]) else 1


if __name__ == "__main__":
    sys.exit(main())
