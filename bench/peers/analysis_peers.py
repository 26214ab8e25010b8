# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the breakdown beside what others would do with the same events.

    python3 bench/peers/analysis_peers.py build/test [--events N ...] [--repeat N]

needs the targets analysis_bench and gpubound_sqlite, SQLite's shell, and the packages of
requirements.txt. Each peer starts from its own stored table of the same events and computes, for
each thread, how long it was in each operation, inside and outside CUDA calls, with the GPU busy and
idle. The script stops where two of them disagree by a nanosecond.

    gpubound   the run directory to the whole report, of which the table is a part
    pandas     columns on disk; kernels merged to busy intervals, then markers summed up along time,
               as HolisticTraceAnalysis does it
    DuckDB     a DuckDB file and breakdown.sql, one thread
    SQLite     a SQLite file and breakdown.sql

Every measurement is a process of its own: CPU seconds of all its threads, and its resident memory.
"""

import argparse
import collections
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BREAKDOWN = (HERE / "breakdown.sql").read_text()
COLUMNS = ("kind", "thread", "begin_ns", "end_ns", "operation")
SCOPE, CALL, KERNEL, SPAN = range(4)
SLOWEST = {"SQLite": 1_000_000}  # more events take a peer longer than a benchmark should

# operation N -> N; everything outside operations is 0.
TABLES = """
.load {extension}
SELECT gpubound_open('{run}') > 0;
ATTACH '{out}' AS out;
PRAGMA out.journal_mode=OFF;
CREATE TABLE out.event(kind INTEGER, thread INTEGER, begin_ns INTEGER, end_ns INTEGER,
                       operation INTEGER);
INSERT INTO out.event SELECT 0, thread, begin_ns, end_ns, CAST(substr(name, 11) AS INTEGER)
  FROM temp.scope;
INSERT INTO out.event SELECT 1, thread, begin_ns, end_ns, 0 FROM temp.api;
INSERT INTO out.event SELECT 2, 0, begin_ns, end_ns, 0 FROM temp.gpu;
INSERT INTO out.event SELECT DISTINCT 3, thread, 0, {span_ns}, 0 FROM out.event WHERE kind = 0;
"""


def by_sqlite(folder):
    return sqlite3.connect(folder / "events.db").execute(BREAKDOWN).fetchall()


def by_duckdb(folder):
    import duckdb

    database = duckdb.connect(str(folder / "events.duckdb"), read_only=True)
    database.execute("SET threads = 1")
    return database.execute(BREAKDOWN).fetchall()


def merged(kernels):
    """Busy intervals of overlapping kernels."""
    kernels = kernels.sort_values("begin_ns")
    apart = kernels.begin_ns > kernels.end_ns.shift().cummax()
    runs = kernels.groupby(apart.cumsum())
    return runs.agg(begin_ns=("begin_ns", "min"), end_ns=("end_ns", "max"))


def by_pandas(folder):
    import numpy
    import pandas

    events = pandas.DataFrame({name: numpy.load(folder / f"{name}.npy") for name in COLUMNS})
    busy = merged(events[events.kind == KERNEL])
    rows = []
    for thread, own in events[events.kind != KERNEL].groupby("thread"):
        steps = ["operation", "call", "gpu"]
        intervals = pandas.concat([
            own.assign(call=own.kind == CALL, gpu=0)[["begin_ns", "end_ns", *steps]],
            busy.assign(operation=0, call=False, gpu=1),
        ]).astype("int64")
        begins = intervals.set_index("begin_ns")[steps]
        ends = -intervals.set_index("end_ns")[steps]
        state = pandas.concat([begins, ends]).sort_index(kind="stable").cumsum()
        state["ns"] = -state.index.to_series().diff(-1).to_numpy()
        inside = state[(state.index >= own.begin_ns.min()) & (state.ns > 0)]
        for (operation, call, gpu), ns in inside.groupby(steps).ns.sum().items():
            rows.append((thread, operation, call, ns if gpu == 0 else 0, ns if gpu else 0))
    return rows


PEERS = {"pandas": by_pandas, "DuckDB": by_duckdb, "SQLite": by_sqlite}


def cells_of_rows(rows):
    cells = collections.Counter()
    for thread, operation, in_call, idle_ns, busy_ns in rows:
        cells[f"{thread} {operation} {in_call} idle"] += int(idle_ns)
        cells[f"{thread} {operation} {in_call} busy"] += int(busy_ns)
    return {key: ns for key, ns in cells.items() if ns}


def cells_of_report(report):
    """The same cells; those of the thread that reports, which others refine, without the layer."""
    process = report["processes"][0]
    lanes = {lane["tid"] % 1000 + 1: lane["cells"] for lane in process["lanes"]}
    (reporting,) = {1, 2, 3, 4} - lanes.keys()
    cells = collections.Counter()
    for thread, own in [(reporting, process["cells"]), *lanes.items()]:
        for cell in own:
            name = cell["operation"]
            operation = 0 if name == "(no operation)" else int(name.removeprefix("operation "))
            call = "any" if thread == reporting else int(cell["layer"] == "cuda_api")
            gpu = "idle" if cell["gpu"] == "idle" else "busy"
            cells[f"{thread} {operation} {call} {gpu}"] += cell["ns"]
    return reporting, {key: ns for key, ns in cells.items() if ns}


def without_layer(cells, thread):
    summed = collections.Counter()
    for key, ns in cells.items():
        own, operation, call, gpu = key.split()
        summed[f"{own} {operation} {'any' if int(own) == thread else call} {gpu}"] += ns
    return dict(summed)


def measured(command, repeat):
    """Median CPU seconds and resident MiB of |command|, and what it printed.

    A command that prints `cpu_s` has measured that itself.
    """
    seconds, resident = [], 0
    for _ in range(repeat):
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(command, stdout=out)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            if status:
                sys.exit(f"analysis_peers: {' '.join(map(str, command))} failed")
            out.seek(0)
            printed = json.load(out)
        seconds.append(printed.get("cpu_s", usage.ru_utime + usage.ru_stime))
        resident = max(resident, usage.ru_maxrss / 1024)
    return statistics.median(seconds), resident, printed


def write_tables(build, folder, run, span_ns):
    import duckdb
    import numpy
    import pandas

    extension = build / "lib" / "gpubound_sqlite"
    script = TABLES.format(extension=extension, run=run, out=folder / "events.db", span_ns=span_ns)
    subprocess.run(["sqlite3", "-bail", ":memory:"], input=script, text=True, check=True,
                   stdout=subprocess.DEVNULL)
    rows = sqlite3.connect(folder / "events.db").execute(f"SELECT {','.join(COLUMNS)} FROM event")
    blocks = []
    while block := rows.fetchmany(500_000):
        blocks.append(numpy.array(block, dtype="int64"))
    table = numpy.concatenate(blocks)
    for place, name in enumerate(COLUMNS):
        numpy.save(folder / f"{name}.npy", table[:, place])
    events = pandas.DataFrame(table, columns=COLUMNS)
    database = duckdb.connect(str(folder / "events.duckdb"))
    database.register("events", events)
    database.execute("CREATE TABLE event AS SELECT * FROM events")
    database.close()


def print_row(events, name, seconds, resident):
    rate = events / seconds / 1e6
    print(f"| {events} | {name} | {seconds:.2f} | {rate:.2f} | {resident:.0f} |", flush=True)


def compare(build, events, repeat):
    bench = build / "bin" / "analysis_bench"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = folder / "run"
        subprocess.run([bench, "--write", run, "--events", str(events)], check=True)
        seconds, resident, report = measured([bench, "--json", run], repeat)
        thread, expected = cells_of_report(report)
        print_row(events, "gpubound", seconds, resident)
        # In a process of its own, whose memory is gone afterwards.
        if os.fork() == 0:
            write_tables(build, folder, run, report["processes"][0]["span_ns"])
            os._exit(0)
        if os.wait()[1]:
            sys.exit("analysis_peers: the tables could not be written")
        for peer in PEERS:
            if events > SLOWEST.get(peer, events):
                continue
            command = [sys.executable, __file__, "--one", peer, str(folder)]
            seconds, resident, printed = measured(command, repeat)
            found = without_layer(cells_of_rows(printed["rows"]), thread)
            if found != expected:
                wrong = sorted(key for key in found.keys() | expected.keys()
                               if found.get(key) != expected.get(key))
                sys.exit(f"analysis_peers: {peer} disagrees with gpubound, first in {wrong[0]}: "
                         f"{found.get(wrong[0])} against {expected.get(wrong[0])} ns")
            print_row(events, peer, seconds, resident)


def run_one(peer, folder):
    """Prints a peer's CPU seconds, without those of starting Python and its packages, and rows."""
    import duckdb  # noqa: F401
    import pandas  # noqa: F401

    before = time.process_time()
    rows = PEERS[peer](folder)
    seconds = time.process_time() - before
    print(json.dumps({"cpu_s": seconds, "rows": [[int(value) for value in row] for row in rows]}))


def main():
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2], pathlib.Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--events", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("| events | by | CPU s | M events per CPU s | resident MiB |\n|---|---|---|---|---|")
    for events in options.events:
        compare(options.build.resolve(), events, options.repeat)


if __name__ == "__main__":
    main()
