# SPDX-License-Identifier: Apache-2.0
"""Figures of a run, by matplotlib: Run.plot()."""
from typing import TYPE_CHECKING, Any, Callable, Dict, List

if TYPE_CHECKING:
    from gpubound.runs import Run

# Told apart by those who see few colours, and when printed in grey.
_COLUMNS = (("cpu_only_ns", "CPU only", "#9ecae1"), ("cpu_gpu_ns", "CPU and GPU", "#08519c"),
            ("gpu_only_ns", "GPU only", "#238b45"), ("waiting_ns", "waiting", "#fdae6b"),
            ("idle_ns", "idle", "#d9d9d9"), ("unknown_ns", "unknown", "#756bb1"))
_SECONDS = ((1, "s"), (1e3, "ms"), (1e6, "µs"))


def draw(run: "Run", kind: str, axes: Any) -> Any:
    """Run.plot()."""
    painter = _KINDS.get(kind)
    if painter is None:
        raise ValueError(f"plot() knows no {kind!r}, only {', '.join(map(repr, _KINDS))}")
    import matplotlib.pyplot
    if axes is None:
        axes = matplotlib.pyplot.figure(figsize=(7, 3.2), layout="constrained").add_subplot()
    painter(run, axes)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _needed(rows: List[Dict[str, Any]], what: str, remedy: str) -> List[Dict[str, Any]]:
    if not rows:
        raise ValueError(f"the run has no {what} to plot; {remedy}")
    return rows


def _unit(longest_ns: float) -> Any:
    """How many nanoseconds make one, and its name."""
    for times, name in _SECONDS:
        if longest_ns >= 1e9 / times:
            return 1e9 / times, name
    return 1e3, "µs"


def _main_process(rows: List[Dict[str, Any]], length: str) -> List[Dict[str, Any]]:
    """Those of the process that has most."""
    sums: Dict[int, int] = {}
    for row in rows:
        sums[row["process"]] = sums.get(row["process"], 0) + row[length]
    most = max(sums, key=lambda process: sums[process])
    return [row for row in rows if row["process"] == most]


def _draw_breakdown(run: "Run", axes: Any) -> None:
    rows = _needed([row for row in run.operations if row["wall_ns"] > 0], "operations", "it recorded nothing")
    loops = {row["process"] for row in run.iterations} or {row["process"] for row in rows}
    rows = _main_process([row for row in rows if row["process"] in loops] or rows, "wall_ns")
    rows.sort(key=lambda row: row["wall_ns"])
    per, unit = _unit(rows[-1]["wall_ns"])
    names = [row["operation"] for row in rows]
    left = [0.0] * len(rows)
    for column, label, colour in _COLUMNS:
        widths = [row[column] / per for row in rows]
        if any(widths):
            axes.barh(names, widths, left=left, color=colour, label=label)
        left = [begin + width for begin, width in zip(left, widths)]
    axes.set_xlabel(f"time ({unit})")
    axes.legend(frameon=False, fontsize="small")


def _draw_iterations(run: "Run", axes: Any) -> None:
    rows = _main_process(_needed(run.iterations.rows(), "iterations", "call gpubound.step() at the end of each"),
                         "duration_ns")
    per, unit = _unit(max(row["duration_ns"] for row in rows))
    numbers = [row["number"] for row in rows]
    axes.plot(numbers, [row["duration_ns"] / per for row in rows], color="#333333", linewidth=1, label="iteration")
    axes.fill_between(numbers, [row["gpu_busy_ns"] / per for row in rows], color="#238b45", alpha=0.7, linewidth=0,
                      label="GPU busy")
    warm_up = [row["number"] for row in rows if row["warm_up"]]
    if warm_up:
        axes.axvspan(warm_up[0] - 0.5, warm_up[-1] + 0.5, color="#d9d9d9", alpha=0.5, linewidth=0, label="warm-up")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("iteration")
    axes.set_ylabel(f"time ({unit})")
    axes.legend(frameon=False, fontsize="small")


# More bars than a figure has points tell nothing.
_MOST_BARS = 20000


def _draw_timeline(run: "Run", axes: Any) -> None:
    # The longest first: what is nested in them is drawn over them.
    scopes = run.sql("select process, name, begin_ns, end_ns from scope where kind = 'operation' "
                     f"order by end_ns - begin_ns desc limit {_MOST_BARS}").rows()
    work = run.sql("select process, 'GPU' as name, begin_ns, end_ns from gpu "
                   f"order by end_ns - begin_ns desc limit {_MOST_BARS}").rows()
    _needed(scopes + work, "operations or device work", "it recorded nothing")
    processes = {row["process"]: row for row in run.table("process")}
    ends = []
    for row in scopes + work:
        process = processes[row["process"]]
        row["at"] = row["begin_ns"] - process["begin_ns"] + process["run_begin_ns"]
        ends.append(row["at"] + row["end_ns"] - row["begin_ns"])
    per, unit = _unit(max(ends))
    shown_processes = sorted({row["process"] for row in scopes + work})
    colours = {name: f"C{i % 10}" for i, name in enumerate(dict.fromkeys(row["name"] for row in scopes))}
    shown = set()
    for rows, bottom, height in ((scopes, -0.4, 0.45), (work, 0.1, 0.3)):
        for process, name in dict.fromkeys((row["process"], row["name"]) for row in rows):
            bars = [(row["at"] / per, (row["end_ns"] - row["begin_ns"]) / per) for row in rows
                    if row["process"] == process and row["name"] == name]
            axes.broken_barh(bars, (bottom - shown_processes.index(process), height), linewidth=0,
                             color="#333333" if rows is work else colours[name],
                             label=None if name in shown else name)
            shown.add(name)
    axes.set_yticks([-row for row in range(len(shown_processes))],
                    [f"{processes[process]['host']} {processes[process]['pid']}" for process in shown_processes])
    axes.set_ylim(-len(shown_processes) + 0.4, 0.6)
    axes.set_xlabel(f"time ({unit})")
    axes.legend(frameon=False, fontsize="small", ncols=3)


def _draw_ranks(run: "Run", axes: Any) -> None:
    rows = _needed(run.ranks.rows(), "ranks", "it has no collectives of several ranks")
    per, unit = _unit(max(max(row["peer_wait_ns"], row["waited_for_ns"], row["moving_ns"]) for row in rows))
    names = [str(row["process"] if row["rank"] is None else row["rank"]) for row in rows]
    places = range(len(rows))
    for shift, (column, label, colour) in zip((-0.27, 0.0, 0.27), (
            ("peer_wait_ns", "waits for others", "#fdae6b"), ("moving_ns", "moves data", "#08519c"),
            ("waited_for_ns", "others wait for it", "#cb181d"))):
        axes.bar([place + shift for place in places], [row[column] / per for row in rows], 0.27, color=colour,
                 label=label)
    axes.set_xticks(list(places), names)
    axes.set_xlabel("rank")
    axes.set_ylabel(f"time ({unit})")
    axes.legend(frameon=False, fontsize="small")


_KINDS: Dict[str, Callable[["Run", Any], None]] = {
    "breakdown": _draw_breakdown, "iterations": _draw_iterations, "timeline": _draw_timeline, "ranks": _draw_ranks}
