# SPDX-License-Identifier: Apache-2.0
"""Runs read from Python: `run = gpubound.open("train.gpubound")`.

Everything is computed in this process by the analysis that the command has, without a GPU and without other
packages. Where they are installed, pyarrow, pandas, polars and DuckDB take a table's columns as they are.
"""
import contextlib
import html
import json
import os
import subprocess
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from gpubound import _reader
from gpubound._api import recording
from gpubound._reader import RunError

__all__ = ["DataQuality", "Run", "RunError", "Table", "open_run"]

Path = Union[str, "os.PathLike[str]"]

_ALL = 2**63 - 1
_SHOWN_ROWS = 20


class Table:
    """Columns of a run. Anything that speaks Arrow's PyCapsule protocol takes it: `pyarrow.table(table)`,
    `polars.DataFrame(table)`, `duckdb.sql("select * from table")`. Rows are read anew each time, in batches, so a
    table costs no memory itself. Names of columns end in their unit: `duration_ns` is in nanoseconds. Texts of
    long tables are dictionaries (pandas: categories)."""

    def __init__(self, held: "_reader.OpenTable", name: str) -> None:
        self._held = held
        self.name = name

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return _reader.stream(self._held)  # a schema that is requested may be ignored

    def __arrow_c_schema__(self) -> object:
        return _reader.schema(self._held)

    @property
    def columns(self) -> List[str]:
        """Names of the columns, in order."""
        return _reader.names(self._held)

    def arrow(self) -> Any:
        """As a pyarrow.Table. Raises ImportError without pyarrow 14 or later."""
        import pyarrow
        return pyarrow.table(self)

    def polars(self) -> Any:
        """As a polars.DataFrame. Raises ImportError without polars."""
        import polars
        rows = polars.from_arrow(self, rechunk=False)  # to put the batches together takes as long as to make them
        return rows.struct.unnest() if isinstance(rows, polars.Series) else rows

    def pandas(self) -> Any:
        """As a pandas.DataFrame. Raises ImportError without pandas; pyarrow makes it quick, and is not needed."""
        import pandas
        try:
            return self.arrow().to_pandas()
        except ImportError:
            return pandas.DataFrame(self.values())

    def values(self, most: Optional[int] = None) -> Dict[str, List[Any]]:
        """A list for each column, of all rows or the first `most`: plain Python, without any package."""
        return dict(zip(self.columns, _reader.values(self._held, _ALL if most is None else most)))

    def rows(self, most: Optional[int] = None) -> List[Dict[str, Any]]:
        """The same row by row."""
        columns = self.values(most)
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.rows())

    def _repr_html_(self) -> str:
        columns = self.values(_SHOWN_ROWS + 1)
        cells = [[html.escape(str(value)) for value in row] for row in zip(*columns.values())]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[:_SHOWN_ROWS])
        more = f"<p>The first {_SHOWN_ROWS} rows.</p>" if len(cells) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def __repr__(self) -> str:
        return f"<gpubound.Table {self.name}: {', '.join(self.columns)}>"


class DataQuality:
    """How far a run's figures are to be believed."""

    def __init__(self, verdict: str, ledger: Union[Table, List[Dict[str, Any]]], problems: List[str]) -> None:
        self.verdict = verdict  #: one line: `complete`, `incomplete` or `doubtful`, and why
        self.ledger = ledger  #: what was counted that could make a number wrong; of parts, as the report has it
        self.problems = problems  #: files that could be read in part only, and why

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return self.verdict.startswith("complete")

    def __repr__(self) -> str:
        return f"<gpubound.DataQuality {self.verdict}>"


class Run:
    """A run directory that was opened, or parts of a run; see gpubound.open(). Any thread may use it. Figures that
    need the whole run are computed when they are asked for first, and kept. Parts, which `gpubound part` makes, are
    sums: they have report(), summary(), compare() and data_quality, and no tables."""

    def __init__(self, path: Path, between_ns: Optional[Tuple[int, int]] = None) -> None:
        self.path = os.fspath(path)
        # The recorder's locks on a file end when anybody in its process closes that file, so a run that this
        # process still records is read from a copy, made by another one.
        is_own = _is_recorded_here(self.path)
        self._copy = _copy_of(self.path) if is_own or between_ns else None
        if self._copy and between_ns:
            _keep_between(self._copy.name, *between_ns)
        self._read_path = self._copy.name if self._copy else self.path
        self._held = None if _reader.holds_parts(self._read_path) else _reader.open(self._read_path)
        self._reports: Dict[Tuple[bool, Tuple[str, ...]], Dict[str, Any]] = {}
        self._summary: Optional[Dict[str, Any]] = None
        self._html: Optional[str] = None

    def _events(self) -> "_reader.OpenRun":
        if self._held is None:
            raise RunError(f"reading tables of {self.path}: found parts of a run, which are sums without events, "
                           "expected a run directory; report(), summary() and compare() take parts")
        return self._held

    @staticmethod
    def tables() -> Dict[str, str]:
        """The tables that there are, and what a row of each is. docs/tables.md explains their columns."""
        return dict(_reader.tables())

    def table(self, name: str, columns: Optional[Sequence[str]] = None) -> Table:
        """A table of the run by name, or some of its columns. To the columns of `gpubound sql` come `host` and `rank`
        (as the launcher calls the process; null without one), and beside each time of the trace the same on one
        clock for all hosts, from the begin of the run: run_begin_ns, run_end_ns, run_time_ns.

        Raises ValueError for a table or a column that there is not, and RunError where the run cannot be analysed."""
        return Table(_reader.table(self._events(), name, None if columns is None else list(columns)), name)

    @property
    def operations(self) -> Table:
        """Where the time of each operation of each process went."""
        return self.table("operation")

    @property
    def iterations(self) -> Table:
        """Every iteration of a training loop, with the time in which the GPU was busy."""
        return self.table("iteration")

    @property
    def kernels(self) -> Table:
        """Device work by name. Each kernel by itself is `table("gpu")`."""
        return self.table("kernel")

    @property
    def idle(self) -> Table:
        """Why devices were idle, by operation."""
        return self.table("idle_cause")

    @property
    def waits(self) -> Table:
        """How long processes waited for others, by operation."""
        return self.table("wait")

    @property
    def ranks(self) -> Table:
        """Ranks that ran collectives: what they waited for, and who was late."""
        return self.table("rank")

    @property
    def roles(self) -> Table:
        """Roles of processes (gpubound.role()): for how long, in nanoseconds, each was at work, held GPUs, and left
        them idle. No rows where there are fewer than two. By process, cause and combination of roles they are
        `table("role_process")`, `table("role_bubble")` and `table("role_overlap")`."""
        return self.table("role")

    @property
    def counters(self) -> Table:
        """Values that the program gave (gpubound.counter())."""
        return self.table("counter")

    @property
    def data_quality(self) -> DataQuality:
        """How far to believe the figures."""
        if self._held is None:
            report = self.report(replay=False)
            return DataQuality(report["run"]["verdict"], report["ledger"], report["notes"])
        return DataQuality(_reader.verdict(self._held), self.table("ledger"), _reader.problems(self._held))

    def sql(self, query: str) -> Table:
        """What a query in SQLite's SQL finds in the tables; of several statements, the last. Held in memory.

        Raises ValueError for a query that is wrong or does more than read."""
        return Table(_reader.query(self._events(), query), "query")

    def report(self, *, replay: bool = True, targets: Sequence[str] = ()) -> Dict[str, Any]:
        """The report as `gpubound report --json` has it (docs/report.md). Without `replay` it lacks corrected values
        and savings, and takes a fraction of the time. `targets`, as in `["return>=450 over 20"]`, are results that the
        training was to reach: `["run"]["training"]["targets"]` says when it did. Kept, so do not change it.

        Raises ValueError for what is no target."""
        asked = (replay, tuple(targets))
        if asked not in self._reports:
            self._reports[asked] = json.loads(_reader.report(self._read_path, replay, "json", "", list(targets)))
        return self._reports[asked]

    def summary(self) -> Dict[str, Any]:
        """Verdict, evidence, savings and what to ask next, as `gpubound report --json --summary` has it
        (docs/agents.md). Kept, so do not change it."""
        if self._summary is None:
            self._summary = json.loads(_reader.report(self._read_path, True, "summary", "", []))
        return self._summary

    def compare(self, *others: "Run", seed: int = 1, targets: Sequence[str] = ()) -> Dict[str, Any]:
        """How other runs differ from this one, with 95 % intervals, as `gpubound compare --json` has it; this run is
        group A. `targets` are as in report(). gpubound.runs.compare() takes groups of repeated runs.

        Raises ValueError without another run."""
        if not others:
            raise ValueError("compare() takes the run to compare with, and got none")
        return compare({chr(ord("A") + i): [run] for i, run in enumerate((self, *others))}, seed=seed,
                       targets=targets)

    def whatif(self, *scale: str, graph_capture: Sequence[str] = (), fuse: Sequence[str] = (), gpu: str = "",
               vectorise: float = 1, copies: int = 0, move_gpus: str = "") -> Dict[str, Any]:
        """The run replayed with something changed, as `gpubound whatif --json` has it (docs/what_if.md):
        `run.whatif("operation=simulation:0.5", "kernel=gemm:0.8")`, `run.whatif(graph_capture=["inference"])`,
        `run.whatif(fuse=["simulation"])`, `run.whatif(gpu="A100")`, `run.whatif(vectorise=8)` with so many times the
        environments in each launch, `run.whatif(copies=4)` with up to so many runs like it on one GPU,
        `run.whatif(move_gpus="rollout:train:1")` with a GPU of the one role given to the other.

        Raises ValueError for a change that makes no sense."""
        changes: Dict[str, Any] = json.loads(_reader.what_if(
            self._read_path, list(scale), list(graph_capture), list(fuse), gpu, float(vectorise), copies,
            move_gpus))
        return changes

    def plot(self, kind: str = "breakdown", *, axes: Any = None) -> Any:
        """Draws the run with matplotlib into `axes`, or a figure of its own, and returns the axes:

        "breakdown"   operations of the process that the report is about: what CPU and GPU did in the time of each
        "iterations"  the length of every iteration, and the part in which the GPU was busy
        "timeline"    what each process's operations and device work were, along the run
        "ranks"       what ranks waited for others in collectives, and what others waited for them

        Raises ImportError without matplotlib, and ValueError for another kind or a run that has none of it."""
        from gpubound import _plots
        return _plots.draw(self, kind, axes)

    def _repr_html_(self) -> str:
        if self._html is None:
            self._html = _reader.report(self._read_path, True, "html", self.path, [])
        return self._html

    def __repr__(self) -> str:
        return f"<gpubound.Run {self.path}>"


def compare(groups: Dict[str, Sequence[Run]], *, seed: int = 1, targets: Sequence[str] = ()) -> Dict[str, Any]:
    """How groups of repeated runs differ from the first one, as `gpubound compare --json` has it:
    `compare({"before": runs, "after": others}, targets=["return>=450"])`. Raises ValueError with fewer than two
    groups, an empty one, or what is no target."""
    if len(groups) < 2 or not all(groups.values()):
        raise ValueError("compare() takes two groups or more, of at least one run each")
    named = [(name, [run._read_path for run in runs]) for name, runs in groups.items()]
    differences: Dict[str, Any] = json.loads(_reader.compare(named, seed, list(targets)))
    return differences


def open_run(path: Path, between_ns: Optional[Tuple[int, int]] = None) -> Run:
    """gpubound.open(); of a part of the time, by time.monotonic_ns() on the host that recorded."""
    return Run(path, between_ns)


def _is_recorded_here(path: str) -> bool:
    own = os.environ.get("GPUBOUND_RUN")
    return recording() and bool(own) and os.path.realpath(own or "") == os.path.realpath(path)


def _copy_of(path: str) -> "tempfile.TemporaryDirectory[str]":
    copy = tempfile.TemporaryDirectory(prefix="gpubound-", suffix=".gpubound")
    # Logs first: a page that moves from one into its database in between is then read twice, not lost. What maps
    # a log is made anew.
    names = sorted((name for name in os.listdir(path) if not name.endswith("-shm")),
                   key=lambda name: not name.endswith(("-wal", "-journal")))
    subprocess.run(["cp", "-p", "--", *(os.path.join(path, name) for name in names), copy.name],
                   env={**os.environ, "GPUBOUND_DISABLE": "1"}, check=False, capture_output=True)
    return copy


def _keep_between(folder: str, begin_ns: int, end_ns: int) -> None:
    """Makes of each trace in `folder` one of a part of its time, as of iterations that were asked for."""
    import sqlite3
    for name in os.listdir(folder):
        if not name.endswith(".db"):
            continue
        with contextlib.closing(sqlite3.connect(os.path.join(folder, name))) as database, database:
            before = database.execute("select count(*) from meta").fetchone()[0]
            database.executemany("insert or replace into meta values(?, ?)", (
                ("steps", "1:2"), ("steps_begin_ns", begin_ns), ("steps_end_ns", end_ns)))
            # A trace says how many rows it has.
            database.execute("update row_count set rows = rows + (select count(*) from meta) - ? where name = 'meta'",
                             (before,))
