# SPDX-License-Identifier: Apache-2.0
"""Studies whose runs play many parts in one process, each a variant of a simulator at a size: what programs write by
programs/played_parts.py, read by part and repetition. The last field of a part's name is its steps in an iteration."""
import bisect
import json
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Any, Dict, List, Sequence

import study
from study import Figures, interval, number, ratio_interval, with_interval

# What an iteration takes that nobody interrupts: of all iterations a tenth is as short.
QUANTILE = 10
# One thread of each library: what is compared is how environments are stepped. XLA's CPU backend takes the size of its
# pool from NPROC alone; with its two flags, elementwise kernels of large arrays were still divided between two threads.
VARIABLES = {"OMP_NUM_THREADS": "1", "NPROC": "1"}
UNRECORDED = "unrecorded"


def program(recorder: study.Recorder, script: str, clocks: str, repetitions: int, seconds: float,
            parts: Sequence[str]) -> study.Program:
    return study.Program([sys.executable, str(study.PROGRAMS / script), str(clocks_of(recorder, clocks)),
                          str(repetitions), str(seconds), *parts], VARIABLES)


def clocks_of(recorder: study.Recorder, name: str) -> pathlib.Path:
    return recorder.folder / f"{name}.clocks.json"


def play_unrecorded(plain: study.Program, recorder: study.Recorder) -> None:
    if clocks_of(recorder, UNRECORDED).exists():
        return
    print(f"run without gpubound: {UNRECORDED}", file=sys.stderr, flush=True)
    done = subprocess.run(list(plain.words), env={**os.environ, **plain.variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise study.Failed(f"{' '.join(plain.words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


# --- Reading ---

def read_parts(recorder: study.Recorder, name: str) -> Figures:
    """Of each part that the run of that name played, a value for each repetition; and what is known of the run."""
    import gpubound

    run = gpubound.open(recorder.path(name))
    clocks = json.loads(clocks_of(recorder, name).read_text())
    report = run.report(replay=False)
    process = report["processes"][0]
    common = {"verdict": run.data_quality.verdict, "without_core": study.without_core(process)}
    tables = Tables(run)
    runs: Dict[str, List[Any]] = {}
    for phase, own in sorted(clocks["phases"].items()):
        runs.setdefault(phase.split(" ")[0], []).append({**tables.figures_of(phase, own), **common})
    return {"runs": runs, "states": clocks["states"],
            "run": {"diagnosis": [row["kind"] for row in report["diagnosis"]],
                    "simulation_cpu": next({key: row["cpu"][key] for key in ("on_cpu_ns", "error_ns")}
                                           for row in process["operations"] if row["operation"] == "simulation"),
                    "own_cpu_ns": sum(own["cpu_ns"] for own in clocks["phases"].values())}}


def unrecorded(recorder: study.Recorder) -> Dict[str, List[int]]:
    """Of each part that was played without gpubound, how long an iteration takes that nobody interrupted."""
    made: Dict[str, List[int]] = {}
    for phase, own in sorted(json.loads(clocks_of(recorder, UNRECORDED).read_text())["phases"].items()):
        made.setdefault(phase.split(" ")[0], []).append(
            quantile([end - before for before, end in zip(own["end_ns"], own["end_ns"][1:])]))
    return made


class Tables:
    """The tables of a run that are asked for each phase."""

    def __init__(self, run: Any) -> None:
        phases = run.table("phase", ["name", "time_ns"]).values()
        ends = [*phases["time_ns"][1:], 1 << 62]
        self.phases = {name: (begin, end) for name, begin, end in zip(phases["name"], phases["time_ns"], ends)}
        self.iterations = run.table("iteration", ["begin_ns", "end_ns"]).values()
        scopes = run.sql("SELECT begin_ns, end_ns, kind = 'operation' AS operation FROM scope WHERE "
                         "(kind = 'operation' AND name = 'simulation' AND domain IS NULL) OR (kind = 'layer' AND "
                         "layer = 'backend') ORDER BY begin_ns").values()  # of the program; rules name it, too
        self.scopes = scopes
        counters = run.sql("SELECT time_ns, value FROM counter WHERE name = 'env_steps' ORDER BY time_ns").values()
        self.counters = counters

    def figures_of(self, phase: str, own: Dict[str, Any]) -> Dict[str, Any]:
        """Of the iterations after the first of a phase: how long one takes that nobody interrupts, what of that is the
        simulator and what calls into the framework, and how many; and the throughput of all by the counter."""
        begin_ns, end_ns = self.phases[phase]
        at, to = (bisect.bisect_left(self.iterations["begin_ns"], time) for time in (begin_ns, end_ns))
        iterations = [row for row in zip(self.iterations["begin_ns"][at:to], self.iterations["end_ns"][at:to])
                      if row[1] <= end_ns]
        own_ns = [end - before for before, end in zip(own["end_ns"], own["end_ns"][1:])]
        if len(iterations) != len(own_ns):
            raise study.Failed(f"{phase}: found {len(iterations)} iterations, expected {len(own_ns)} as the program "
                               "says")
        own_seconds = (own["end_ns"][-1] - own["end_ns"][0]) / 1e9
        first, last = (bisect.bisect_left(self.counters["time_ns"], time) for time in (begin_ns, end_ns))
        times, values = self.counters["time_ns"][first:last], self.counters["value"][first:last]
        lengths = [end - begin for begin, end in iterations]
        shortest = [row for row in iterations if row[1] - row[0] <= quantile(lengths)]
        sums = [self.within(*row) for row in shortest]
        return {"iterations": len(iterations), "iteration_ns": quantile(lengths), "own_iteration_ns": quantile(own_ns),
                "steps_per_second": sum(values[1:]) / (times[-1] - times[0]) * 1e9,
                "own_steps_per_second": own["env_steps"] * len(own_ns) / own_seconds,
                "env_steps": values[0],
                "simulation_ns": sum(self.within(*row)["simulation_ns"] for row in iterations),
                "own_simulation_ns": sum(own["simulation_ns"][1:]),
                "shortest": {key: statistics.fmean(made[key] for made in sums) for key in sums[0]}}

    def within(self, begin_ns: int, end_ns: int) -> Dict[str, float]:
        at, to = (bisect.bisect_left(self.scopes["begin_ns"], time) for time in (begin_ns, end_ns))
        made = {"total_ns": end_ns - begin_ns, "simulation_ns": 0, "backend_ns": 0, "plays": 0, "calls": 0}
        for begin, end, operation in zip(*(self.scopes[key][at:to] for key in ("begin_ns", "end_ns", "operation"))):
            made["simulation_ns" if operation else "backend_ns"] += end - begin
            made["plays" if operation else "calls"] += 1
        return made


def quantile(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // QUANTILE]


# --- Figures of a part ---

def steps_of(name: str) -> int:
    """In an iteration."""
    return int(name.rsplit(":", 1)[1])


def calls_of(run: Any, name: str) -> float:
    """Calls into the framework for a step of all environments, as gpubound counted them."""
    calls: float = run["shortest"]["calls"] / steps_of(name)
    return calls


def throughput(figures: Figures, name: str) -> List[float]:
    return [run["env_steps"] / run["iteration_ns"] * 1e9 for run in figures["runs"][name]]


def split(figures: Figures, name: str) -> Dict[str, float]:
    """How long a step of all environments takes, of that the calls, Python in the simulator, and what is around it."""
    steps, made = steps_of(name), {}
    for key, of in (("calls", lambda row: row["backend_ns"]),
                    ("python", lambda row: row["simulation_ns"] - row["backend_ns"]),
                    ("around", lambda row: row["total_ns"] - row["simulation_ns"])):
        made[key] = statistics.fmean(of(run["shortest"]) for run in figures["runs"][name]) / steps
    return made


# --- From values to text ---

def ns_text(ns: float) -> str:
    for scale, unit in ((1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{number(ns / scale)} {unit}"
    return f"{number(ns)} ns"


def rate_text(values: Sequence[float]) -> str:
    mean = statistics.fmean(values)
    scale, unit = next(((scale, unit) for scale, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if mean >= scale),
                       (1, ""))
    return with_interval(interval(values), unit, 1 / scale)


def factor(figures: Figures, over: str, under: str) -> str:
    return with_interval(ratio_interval(throughput(figures, over), throughput(figures, under)), " times")


def truth_text(figures: Figures) -> str:
    runs = [run for of in figures["runs"].values() for run in of]
    lengths = [100 * abs(run["iteration_ns"] / run["own_iteration_ns"] - 1) for run in runs]
    rates = [100 * abs(run["steps_per_second"] / run["own_steps_per_second"] - 1) for run in runs]
    times = [100 * run["simulation_ns"] / run["own_simulation_ns"] for run in runs]
    return ("The program's own clocks say the same. Throughput by the counter `env_steps` differs from the program's "
            f"by {number(statistics.median(rates))} % in the median and {number(max(rates))} % at most, of {len(runs)} "
            f"repetitions; the length of an iteration by {number(statistics.median(lengths))} % and "
            f"{number(max(lengths))} %. Time in `simulation` is {number(statistics.median(times), 3)} % of what the "
            f"program's clock says in the median, {number(min(times), 3)} % at least and {number(max(times), 3)} % at "
            "most. That clock is read outside of the operation, so it has what recording the operation takes, and "
            "cores that were lost meanwhile.")


def recording_costs(figures: Figures) -> Dict[str, float]:
    """Of each part that was played without gpubound, too, how much longer recording makes its iterations."""
    return {name: statistics.median(run["iteration_ns"] for run in figures["runs"][name]) /
            statistics.median(lengths) - 1 for name, lengths in figures["unrecorded_ns"].items()}
