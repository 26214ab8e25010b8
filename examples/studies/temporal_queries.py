#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can one ask a recorded run questions about time, in the manner of an engine for temporal queries? Three questions,
each in SQL, of polars and of DuckDB; the rows must be the same, and agree with the clocks of the program that was
recorded. How long each way takes is measured on a run of few long operations and on one of many short ones.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/temporal_queries.py
"""
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Sequence, Tuple

import study
from study import Figures, number, prose, table
from temporal_ways import QUESTIONS, SQL, TENTH_NS, TENTHS, WAYS, Rows

NAME = "temporal_queries"
# Iterations, environment steps of a batch, substeps of each.
SIZES = {"few": (40, 50, 60000), "many": (40, 3500, 800)}
SMALL = {"few": (6, 10, 2000), "many": (6, 100, 200)}
SEEDS = 1  # runs of each size
REPETITIONS = {"few": 7, "many": 5}
SMALL_REPETITIONS = 1
SAMPLE_MS = 100  # between two samples of how long threads waited for a core
COMMAND = "command"
WAY_NAMES = {COMMAND: "`gpubound sql`", "sql": "`run.sql()`", "polars": "polars", "duckdb": "DuckDB"}
# LifeStream's abstract: so many times the performance of streaming engines, and of numerical libraries.
REPORTED = (7.5, 3.2)


def record(recorder: study.Recorder, small: bool) -> None:
    _, variables = study.simulated_cartpole()
    recorder.record_all({name: study.Program(
        [sys.executable, str(study.PROGRAMS / "clocked_actor_learner.py"), *map(str, options),
         str(recorder.folder / f"{name}.clocks.json")], {**variables, "GPUBOUND_SAMPLE_MS": str(SAMPLE_MS)})
        for name, options in (SMALL if small else SIZES).items()}, calibrates=False)


def read(recorder: study.Recorder, small: bool) -> Figures:
    runs, answers, costs = {}, {}, {}
    for name in SIZES:
        clocks = json.loads((recorder.folder / f"{name}.clocks.json").read_text())
        asked = ask_all(recorder, name, SMALL_REPETITIONS if small else REPETITIONS[name])
        runs[name] = [asked["run"]]
        answers[name] = answer_figures(asked["rows"], clocks)
        costs[name] = costs_of(asked["repetitions"])
    return {"options": SMALL if small else SIZES, "runs": runs, "answers": answers, "costs": costs}


def run_figures(path: str) -> Dict[str, Any]:
    import gpubound

    run = gpubound.open(path)
    report = run.report(replay=False)
    counted = run.sql("SELECT count(*) AS operations, max(end_ns) - min(begin_ns) AS total_ns FROM scope "
                      "WHERE kind = 'operation'")
    return {"verdict": run.data_quality.verdict, "device_kind": report["device_kind"],
            "without_core": study.without_core({"operations": [row for process in report["processes"]
                                                               for row in process["operations"]]}),
            **counted.rows()[0]}


# --- Asking, and what it costs ---

def ask_all(recorder: study.Recorder, name: str, repetitions: int) -> Dict[str, Any]:
    """The run, the rows of each question, and what they cost in each repetition. Kept beside the run, as an interrupted
    study goes on."""
    path, place = str(recorder.path(name)), recorder.folder / f"{name}.asked.json"
    made: Dict[str, Any] = json.loads(place.read_text()) if place.exists() else {
        "run": run_figures(path), "rows": {}, "repetitions": []}
    if len(made["repetitions"]) < repetitions:
        for way in WAYS:  # libraries are loaded with the first question that they are asked
            ask_once(way, path, "correlation", str(recorder.command))
    while len(made["repetitions"]) < repetitions:
        print(f"questions to {name}, {len(made['repetitions']) + 1} of {repetitions}", file=sys.stderr, flush=True)
        made["repetitions"].append(ask_in_turns(path, str(recorder.command), len(made["repetitions"]), made["rows"]))
        place.write_text(json.dumps(made))
    return made


def ask_in_turns(path: str, command: str, seed: int, rows: Dict[str, Any]) -> Dict[str, Any]:
    """Asks each question in each way, in an order drawn by chance. All rows of a question must be the same as those in
    `rows`, to which it adds the first ones that it finds."""
    load_average, before = os.getloadavg()[0], core_time()
    costs: Dict[str, Any] = {question: {"first": {}, "again": {}} for question in QUESTIONS}
    order = [(question, way) for question in QUESTIONS for way in (COMMAND, *WAYS)]
    for question, way in random.Random(seed).sample(order, len(order)):
        found, made = ask_once(way, path, question, command)
        check_same(f"{question} by {way}", found, rows.setdefault(question, found))
        for when, cost in made.items():
            costs[question][when][way] = cost
    on_cpu_ns, ready_ns = (now - then for now, then in zip(core_time(), before))
    return {"costs": costs, "load_average": load_average, "niceness": os.nice(0), "on_cpu_ns": on_cpu_ns,
            "ready_ns": ready_ns}


def ask_once(way: str, path: str, question: str, command: str) -> Tuple[Rows, Dict[str, Any]]:
    """The rows, and what they cost: of a run that is opened anew (`first`), and then of its tables (`again`)."""
    import gpubound

    if way == COMMAND:
        found, first = cost_of(lambda: by_command(command, path, question))
        return found, {"first": first}

    def open_and_ask() -> Tuple[Any, Rows]:
        of = WAYS[way](gpubound.open(path))
        of.read(question)
        return of, of.ask(question)

    (of, found), first = cost_of(open_and_ask)
    other, again = cost_of(lambda: of.ask(question))
    check_same(f"{question} by {way}, asked again", other, found)
    return found, {"first": first, "again": again}


def costs_of(repetitions: Sequence[Any]) -> Dict[str, Any]:
    """The same by question and way, with a value for each repetition."""
    questions = {question: {when: {way: {key: [made["costs"][question][when][way][key] for made in repetitions]
                                         for key in ("cpu_ns", "wall_ns")}
                                   for way in (COMMAND, *WAYS) if way in repetitions[0]["costs"][question][when]}
                            for when in ("first", "again")} for question in QUESTIONS}
    on_cpu_ns, ready_ns = (sum(made[key] for made in repetitions) for key in ("on_cpu_ns", "ready_ns"))
    return {"questions": questions, "load_average": [made["load_average"] for made in repetitions],
            "niceness": repetitions[0]["niceness"], "without_core": ready_ns / max(1, ready_ns + on_cpu_ns)}


def by_command(command: str, path: str, question: str) -> Rows:
    done = subprocess.run([command, "sql", "--quiet", "--json", path], input=SQL[question], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise study.Failed(f"gpubound sql ended with {done.returncode}:\n{done.stderr}")
    return [tuple(row.values()) for row in json.loads(done.stdout)]


def cost_of(ask: Callable[[], Any]) -> Tuple[Any, Dict[str, int]]:
    """What it returns, the time that it takes, and that of cores which this process and those that it waited for took
    meanwhile."""
    begin_ns, cpu_ns = time.monotonic_ns(), cpu_time_ns()
    returned = ask()
    return returned, {"wall_ns": time.monotonic_ns() - begin_ns, "cpu_ns": cpu_time_ns() - cpu_ns}


def cpu_time_ns() -> int:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + round((children.ru_utime + children.ru_stime) * 1e9)


def core_time() -> Tuple[int, int]:
    """Of the threads of this process: nanoseconds on a core, and ready to run without one."""
    threads = [open(f"/proc/self/task/{thread}/schedstat").read().split() for thread in os.listdir("/proc/self/task")]
    return sum(int(words[0]) for words in threads), sum(int(words[1]) for words in threads)


def check_same(what: str, found: Rows, expected: Sequence[Sequence[Any]]) -> None:
    """The same rows: whole numbers and texts exactly, others but for rounding."""
    if len(found) != len(expected):
        raise study.Failed(f"{what}: found {len(found)} rows, expected {len(expected)} as in another way")
    for row, other in zip(found, expected):
        if len(row) != len(other) or not all(
                math.isclose(one, two, rel_tol=1e-9) if isinstance(two, float) else one == two
                for one, two in zip(row, other)):
            raise study.Failed(f"{what}: found {row}, expected {other} as in another way")


# --- What the answers say, beside the program's own clocks ---

def answer_figures(rows: Dict[str, Rows], clocks: Dict[str, Any]) -> Dict[str, Any]:
    return {"rows": {question: len(of) for question, of in rows.items()},
            "windows": window_figures(rows["windows"], clocks["busy_ns"]),
            "starvation": starvation_figures(rows["starvation"], clocks["outside_ns"]),
            "correlation": correlation_figures(rows["correlation"], clocks["iterations"])}


def window_figures(rows: Rows, busy_ns: Dict[str, int]) -> Dict[str, Any]:
    made: Dict[str, Any] = {}
    for name in sorted({row[1] for row in rows}):
        of = [(tenth, ns) for tenth, other, ns in rows if other == name]
        most = max(of, key=lambda row: row[1])
        # Each tenth of a second is in ten windows.
        made[name] = {"busiest_ns": most[1], "busiest_end_ns": (most[0] + 1) * TENTH_NS,
                      "total_ns": sum(ns for _, ns in of) // TENTHS, "own_ns": busy_ns.get(name)}
    return made


def starvation_figures(rows: Rows, outside_ns: Sequence[Sequence[int]]) -> Dict[str, Any]:
    own = [max(stretches) for stretches in outside_ns]
    if [row[0] for row in rows] != list(range(1, len(own) + 1)):
        raise study.Failed(f"found stretches before {len(rows)} weight syncs, expected {len(own)} as the program says")
    return {"ns": [row[2] for row in rows], "own_ns": own}


def correlation_figures(rows: Rows, iterations: Sequence[Dict[str, int]]) -> Dict[str, Any]:
    found = {row[0]: row for row in rows}
    own = {number_: (now["end_ns"] - before["end_ns"], now["waited_ns"] - before["waited_ns"])
           for number_, (before, now) in enumerate(zip(iterations, iterations[1:]), 1)}
    both = sorted(set(found) & set(own))
    if len(both) < 3:
        raise study.Failed(f"found {len(found)} iterations between samples, expected 3 or more")
    return {"iterations": len(own), "sampled": len(found), "correlation": rows[0][3],
            "own_correlation": statistics.correlation([own[at][0] for at in both], [own[at][1] for at in both]),
            "delay_ns": [round(found[at][2]) for at in both], "own_delay_ns": [own[at][1] for at in both],
            "length_ns": [found[at][1] for at in both]}


# --- The page ---

def differences(of: Dict[str, Any]) -> List[float]:
    return [abs(one - two) for one, two in zip(of["ns"], of["own_ns"])]


def time_text(ns: float) -> str:
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{number(ns / scale)} {unit}"
    return f"{ns:.0f} ns"


def medians(of: Dict[str, Any]) -> Tuple[float, float]:
    return statistics.median(of["cpu_ns"]), statistics.median(of["wall_ns"])


def cheapest(costs: Dict[str, Any], when: str) -> Dict[str, List[str]]:
    """Questions by the way that takes the least CPU time for them."""
    made: Dict[str, List[str]] = {}
    for question in QUESTIONS:
        of = costs["questions"][question][when]
        made.setdefault(min(of, key=lambda way: medians(of[way])[0]), []).append(question)
    return made


def cheapest_text(costs: Dict[str, Any], when: str) -> str:
    return " and ".join(
        f"{WAY_NAMES[way]} for {'all three' if len(names) == len(QUESTIONS) else ', '.join(f'*{at}*' for at in names)}"
        for way, names in cheapest(costs, when).items())


def size_name(figures: Figures, size: str) -> str:
    return f"{figures['runs'][size][0]['operations']:,} operations"


def cost_table(figures: Figures, size: str) -> str:
    rows = []
    for when in ("first", "again"):
        for question in QUESTIONS:
            of = figures["costs"][size]["questions"][question][when]
            least = min(medians(made)[0] for made in of.values())
            rows.append([f"{question}, {when}", *(
                f"{time_text(medians(of[way])[0])} ({time_text(medians(of[way])[1])}), "
                f"{number(medians(of[way])[0] / least)} x" if way in of else "" for way in WAY_NAMES)])
    return table(["answer", *WAY_NAMES.values()], rows)


def truth_text(figures: Figures) -> str:
    apart = [difference for of in figures["answers"].values() for difference in differences(of["starvation"])]
    shares = [clocked_share(of["windows"]) for of in figures["answers"].values()]
    of_correlation = [abs(of["correlation"]["correlation"] - of["correlation"]["own_correlation"])
                      for of in figures["answers"].values()]
    return (f"They agree with the clocks of the program that was recorded. The longest starvation before a weight sync "
            f"differs by {time_text(statistics.median(apart))} in the median and {time_text(max(apart))} at most, of "
            f"{len(apart)}. Windows have {' and '.join(f'{number(100 * share, 3)} %' for share in shares)} of the time "
            "that those clocks give to operations: they are read before and after, so what lies between is theirs "
            f"alone. Correlations, of samples each {SAMPLE_MS} ms, differ by {number(max(of_correlation))} at most.")


def clocked_share(windows: Dict[str, Any]) -> float:
    clocked = [made for made in windows.values() if made["own_ns"]]
    share: float = sum(made["total_ns"] for made in clocked) / sum(made["own_ns"] for made in clocked)
    return share


def cost_text(figures: Figures) -> str:
    costs = figures["costs"]["many"]
    sql = [medians(of["sql"])[0] / min(medians(made)[0] for made in of.values())
           for question in QUESTIONS for of in [costs["questions"][question]["first"]]]
    return (f"For a first answer from a run of {size_name(figures, 'many')}, the cheapest is "
            f"{cheapest_text(costs, 'first')}; `run.sql()` takes {number(min(sql))} to {number(max(sql))} times its "
            f"CPU time. To answer again, of tables that are held, the cheapest is {cheapest_text(costs, 'again')}.")


def page(figures: Figures) -> str:
    mark, sizes = study.SIMULATED, list(figures["options"])
    answers = figures["answers"]
    names = sorted({name for of in answers.values() for name in of["windows"]})
    windows = [[f"`{name}`", *(text for size in sizes for text in (
        time_text(answers[size]["windows"][name]["busiest_ns"]),
        number(answers[size]["windows"][name]["total_ns"] / answers[size]["windows"][name]["own_ns"], 4)
        if answers[size]["windows"][name]["own_ns"] else "not clocked"))] for name in names]
    starved = [[size_name(figures, size), str(len(of["ns"])), time_text(statistics.median(of["ns"])),
                time_text(max(of["ns"])), time_text(statistics.median(differences(of))),
                time_text(max(differences(of)))] for size in sizes for of in [answers[size]["starvation"]]]
    correlated = [[size_name(figures, size), f"{of['sampled']} of {of['iterations']}", number(of["correlation"], 3),
                   number(of["own_correlation"], 3), time_text(statistics.median(of["length_ns"])),
                   time_text(sum(of["delay_ns"])), time_text(sum(of["own_delay_ns"]))]
                  for size in sizes for of in [answers[size]["correlation"]]]
    rows = sum(count for of in answers.values() for count in of["rows"].values())
    return study.assembled(NAME, [
        "# Temporal queries over a run",
        f"**{mark}**: the program runs on a stand-in for a GPU; its copies are made by the CPU.",
        prose("LifeStream (ASPLOS 2021, arXiv 2012.00192) is an engine for questions about time, asked of signals from "
              f"hospitals. Its authors reported up to {REPORTED[0]} times the performance of streaming engines and "
              f"{REPORTED[1]} times that of numerical libraries. A recorded run is such data: operations, device work "
              "and counters, each with its time. Do the tables of a run answer such questions, without an engine of "
              "one's own?"),
        prose(f"They do. Three questions were asked of two runs, in SQL, of polars and of DuckDB, and all {rows:,} "
              f"rows were the same. {truth_text(figures)}"),
        prose(cost_text(figures)),
        f"![CPU time of answers, {mark}]({NAME}.svg)",
        f"## How long operations were open, in a sliding window ({mark})",
        table(["operation", *(text for size in sizes for text in (
            f"busiest second, {size_name(figures, size)}", "windows over own clock"))], windows),
        prose("A window is a second long, and one ends at each tenth of a second. Times are summed over threads, and "
              "include operations within: `rollout`, by which gpubound calls the function `play`, holds `inference` "
              "and `simulation`. Each tenth is in ten windows, so a tenth of their sum is the time of the operation, "
              "which the program also measures. Its clock is read before the operation begins and after it ended: what "
              "it takes to record it, and a core that is lost meanwhile, are in the clock's time alone."),
        f"## The longest starvation before each weight sync ({mark})",
        table(["run", "weight syncs", "median", "longest", "differs from own clock, median", "at most"], starved),
        prose("A stretch counts in which the learner was in no operation and its device at no work, after the weight "
              "sync before: it waits for a batch, or between two of its operations for a core. Clocks are read within "
              "the stretch: where the core is lost between a clock and an operation, the two differ."),
        f"## Iterations and cores that were missing ({mark})",
        table(["run", "iterations", "correlation", "by own reading", "median length", "threads without a core",
               "by own reading"], correlated),
        prose("Correlation of an iteration's length with the time in which threads of all three processes could have "
              f"run and had no core. gpubound samples that each {SAMPLE_MS} ms; the program reads it from the kernel "
              "at the end of each iteration. Threads are several, so their time without a core may exceed the length. "
              "What happens between two samples is not seen: iterations must be longer than that."),
        *(part for size in sizes for part in (
            f"## What an answer costs, of {size_name(figures, size)} ({mark})", cost_table(figures, size))),
        prose("CPU time, in brackets the time that passed, and CPU time over that of the cheapest way. Each is the "
              f"median of {' and '.join(str(repetitions(figures, size)) for size in sizes)} repetitions, in which all "
              "ways took turns. *First* is all of it: opening the run, reading its tables, answering, and for the "
              "command its start. *Again* is the answer alone, of tables that are held in memory; `run.sql()` holds "
              f"what it had to copy, and no more. {load_text(figures, sizes)}"),
        "## How it was run",
        prose("`clocked_actor_learner.py`: two actors play a pole, a learner takes their batches, and sends weights to "
              "both after every fourth. Arguments, which are iterations, steps of a batch and substeps of the "
              f"simulator: {' and '.join(' '.join(map(str, figures['options'][size])) for size in sizes)}. The runs "
              f"took {' and '.join(time_text(figures['runs'][size][0]['total_ns']) for size in sizes)}. "
              "`temporal_ways.py` has the queries."),
        prose(study.where_measured(figures)),
    ])


def repetitions(figures: Figures, size: str) -> int:
    return len(figures["costs"][size]["load_average"])


def load_text(figures: Figures, sizes: Sequence[str]) -> str:
    of = [figures["costs"][size] for size in sizes]
    return ("While it was measured the load average was "
            f"{' and '.join(number(statistics.median(costs['load_average'])) for costs in of)}, and threads that could "
            f"run had no core in {' and '.join(study.whole_percent(costs['without_core']) for costs in of)} of the "
            f"time, at a niceness of {of[0]['niceness']}: compare CPU times.")


def draw(figures: Figures, axes: Any) -> None:
    looks = {COMMAND: ("s", "#fc9272"), "sql": ("o", "#cb181d"), "polars": ("D", "#08519c"), "duckdb": ("^", "#238b45")}
    answers = [(question, when) for when in ("first", "again") for question in QUESTIONS]
    for way, (marker, colour) in looks.items():
        rows = [(made["cpu_ns"], row) for row, (question, when) in enumerate(answers)
                for made in [figures["costs"]["many"]["questions"][question][when].get(way)] if made]
        for cpu_ns, row in rows:
            axes.plot([ns / 1e9 for ns in cpu_ns], [row] * len(cpu_ns), marker, color=colour, alpha=0.5, markersize=5,
                      label=WAY_NAMES[way].strip("`") if row == 0 else None)
    axes.set_yticks(range(len(answers)), [f"{question}, {when}" for question, when in answers])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"CPU time of each answer (s), of {size_name(figures, 'many')}")
    axes.legend(frameon=False, fontsize="small", ncols=4, loc="lower left", bbox_to_anchor=(0, 1))
    axes.set_title(study.SIMULATED, fontsize="small", loc="right", y=1.1)


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
