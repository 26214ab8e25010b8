#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where does the time of workers go that learn together over a slow network? Four of them, each in a network namespace
of its own, average gradients over links that delay, lose and limit, or send them to a server. Needs root, for the
namespaces.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/slow_networks.py
"""
import json
import random
import statistics
import sys
from typing import Any, Callable, Dict, List, Sequence, Tuple

import study
from study import Figures, interval, number, percent, prose, table, whole_percent, with_interval

sys.path.insert(0, str(study.PROGRAMS))
import links

NAME = "slow_networks"
WORKERS, LATE, FAR = 4, 2, 3  # as in averaging_workers.py
AVERAGED: Dict[str, Dict[str, Any]] = {
    "near": {}, "delay 20 ms": {"delay_ms": 20}, "delay 80 ms": {"delay_ms": 80}, "far link": {"far_ms": 40},
    "late worker": {"late_ms": 100}, "loss 1 %": {"loss": 0.01}, "50 kB/s": {"kilobytes_per_s": 50},
    "80 ms, grid": {"delay_ms": 80, "grid": True}, "80 ms, gathered": {"delay_ms": 80, "gradients": 4}}
SERVED: Dict[str, Dict[str, Any]] = {
    f"server, {name}": {"delay_ms": 20, "far_ms": 40, "server": name} for name in ("nesterov", "dana")}
ITERATIONS, SMALL_ITERATIONS = {"averaged": 10, "served": 20}, {"averaged": 3, "served": 5}
SHORTER = 4  # delays of the small version
SEEDS = 3  # runs of each
IS = {
    "near": "no delay", "delay 20 ms": "20 ms between any two workers, one way", "delay 80 ms": "80 ms",
    "far link": f"the link of worker {FAR} takes 40 ms, one way",
    "late worker": f"the environments of worker {LATE} take 100 ms more",
    "loss 1 %": "one packet in a hundred gets lost",
    "50 kB/s": "each link carries 50 kB a second, each way",
    "80 ms, grid": "80 ms; averages in rows, then columns, of a 2 by 2 grid, as Moshpit SGD does",
    "80 ms, gathered": "80 ms; four gradients of each worker for an average, as DeDLOC gathers them",
    "server, nesterov": "20 ms, the far link; a server with one momentum by Nesterov",
    "server, dana": "20 ms, the far link; a server with a momentum for each worker (DANA-Zero)"}


def plan(small: bool) -> Dict[str, Tuple[int, Dict[str, Dict[str, Any]]]]:
    """Of each run its iterations and jobs. A run of averages has all of them, since their workers share nothing; one
    with a server has no other, since a report counts staleness over the run."""
    iterations = SMALL_ITERATIONS if small else ITERATIONS
    made = {}
    for seed in range(1, 2 if small else SEEDS + 1):
        names = list(AVERAGED)
        random.Random(seed).shuffle(names)
        made[f"averaged-{seed}"] = (iterations["averaged"], {name: AVERAGED[name] for name in names})
        for name in SERVED:
            made[f"{name.replace(', ', '-')}-{seed}"] = (iterations["served"], {name: SERVED[name]})
    return made


def job_text(name: str, options: Dict[str, Any], small: bool) -> str:
    shorter = {key: value / SHORTER for key, value in options.items() if small and key in ("delay_ms", "far_ms")}
    return json.dumps({"name": name, **options, **shorter})


def record(recorder: study.Recorder, small: bool) -> None:
    lacking = links.missing()
    if lacking:
        raise study.Failed(f"this machine cannot be a network: {lacking}")
    recorder.record_all({name: study.Program(
        [sys.executable, str(study.PROGRAMS / "averaging_workers.py"), str(recorder.folder / f"{name}.clocks.json"),
         str(iterations), *(job_text(job, options, small) for job, options in jobs.items())],
        {"OMP_NUM_THREADS": "1"}) for name, (iterations, jobs) in plan(small).items()}, calibrates=False)


def read(recorder: study.Recorder, small: bool) -> Figures:
    import gpubound

    runs: Dict[str, List[Any]] = {name: [] for name in (*AVERAGED, *SERVED)}
    advice = ""
    for name in plan(small):
        run = gpubound.open(recorder.path(name))
        report = run.report(replay=False)
        if name.startswith("averaged"):
            advice = advice or f"{report['diagnosis'][0]['finding']} {report['diagnosis'][0]['action']}"
        for job, clocks in json.loads((recorder.folder / f"{name}.clocks.json").read_text()).items():
            figures = {"seed": int(name.rpartition("-")[2]), "verdict": run.data_quality.verdict,
                       **job_figures(report["processes"], clocks)}
            if job in SERVED:
                gaps = run.sql("SELECT value FROM counter WHERE name = 'gap' ORDER BY time_ns").rows()
                figures["staleness"] = staleness(report["run"]["training"]["samples"], [row["value"] for row in gaps],
                                                 clocks["ranks"][0])
            runs[job].append(figures)
    return {"iterations": SMALL_ITERATIONS if small else ITERATIONS, "advice": advice, "runs": runs}


def job_figures(processes: List[Any], clocks: Any) -> Dict[str, Any]:
    """What the report says of the workers of a job, and beside it what their own clocks say."""
    rank_of = {rank["pid"]: number for number, rank in enumerate(clocks["ranks"])}
    own_waits = waits_by_clocks(clocks["ranks"])
    workers, cpu = [], []
    for process in processes:
        rank = rank_of.get(process["pid"])
        if rank is None or "began" not in clocks["ranks"][rank]:
            continue  # of another job, or the server
        own = clocks["ranks"][rank]
        wall = {row["operation"]: row["wall_ns"] for row in process["operations"]}
        wall.pop("(no operation)")
        for_ranks: Dict[int, int] = {}
        for wait in process["waits"]:
            if wait["operation"] == "average" and wait["pid"] in rank_of:
                other = rank_of[wait["pid"]]
                for_ranks[other] = for_ranks.get(other, 0) + wait["ns"]
        ends = own["iterations"]
        calls = [*(call[2:] for call in own.get("averages", ())), *own.get("exchanges", ())]
        cpu += process["operations"]
        workers.append({
            "rank": rank, "iterations": len(ends), "total_ns": sum(wall.values()), "average_ns": wall["average"],
            "iteration_ns": process["iterations"]["mean_ns"], "waits_ns": for_ranks,
            "wait_ns": sum(cell["ns"] for cell in process["cells"]
                           if (cell["operation"], cell["layer"]) == ("average", "wait")),
            "own": {"total_ns": ends[-1] - own["began"], "average_ns": sum(end - came for came, _, end in calls),
                    "iteration_ns": statistics.fmean(end - begin for begin, end in zip(ends, ends[1:])),
                    "waits_ns": own_waits[rank]}})
    return {"total_ns": sum(worker["total_ns"] for worker in workers), "network": clocks["network"],
            "without_core": study.without_core({"operations": cpu}), "workers": workers}


def waits_by_clocks(ranks: List[Any]) -> List[Dict[int, int]]:
    """Of each rank how long it waited for which other one, by the times at which each came."""
    made: List[Dict[int, int]] = [{} for _ in ranks]
    counted: Dict[Any, int] = {}
    calls: Dict[Any, Dict[int, Sequence[int]]] = {}  # of a collective when each rank came, began to wait, and left
    for rank, clocks in enumerate(ranks):
        for stage, members, *times in clocks.get("averages", ()):
            key = (rank, stage, tuple(members))
            counted[key] = counted.get(key, 0) + 1
            calls.setdefault((*key[1:], counted[key]), {})[rank] = times
        for (_, sent, end), answer in zip(clocks.get("exchanges", ()),
                                           [at for to, at in ranks[0].get("sends", ()) if to == rank]):
            calls[(rank, sent)] = {rank: (sent, sent, end), 0: (answer, answer, answer)}
    for times_of in calls.values():
        for rank, (_, begin, end) in times_of.items():
            others = [(at, other) for other, (at, _, _) in times_of.items() if other != rank and begin < at < end]
            if others:
                at, last = max(others)
                made[rank][last] = made[rank].get(last, 0) + at - begin
    return made


def staleness(samples: Any, gaps: List[float], own: Any) -> Dict[str, Any]:
    behind = {str(row["behind"]): int(row["samples"]) for row in samples["versions_behind"]}
    counts = {str(value): own["behind"].count(value) for value in sorted(set(own["behind"]))}
    return {"behind": behind, "mean_behind": samples["mean_behind"], "gap": statistics.fmean(gaps),
            "own": {"behind": counts, "gap": statistics.fmean(own["gaps"])}}


# --- From figures to sentences ---

def total(run: Any, key: str, of: Callable[[Any], Any] = lambda worker: worker) -> float:
    """Over the workers of a run; of waits, over all that they are for."""
    values = [of(worker)[key] for worker in run["workers"]]
    return float(sum(sum(value.values()) if isinstance(value, dict) else value for value in values))


def by_clocks(worker: Any) -> Any:
    return worker["own"]


def share(runs: List[Any], of: Callable[[Any], float]) -> str:
    """Of the time of the workers' iterations."""
    return percent(interval([of(run) / run["total_ns"] for run in runs]))


def peers(run: Any) -> float:
    return total(run, "waits_ns")


def moving(run: Any) -> float:
    """Waits for nobody known within an average: until data has come."""
    return total(run, "wait_ns") - peers(run)


def own_part(run: Any) -> float:
    return total(run, "average_ns") - total(run, "wait_ns")


def iterations_of(run: Any) -> int:
    return int(sum(worker["iterations"] for worker in run["workers"]))


def iteration_ms(runs: List[Any]) -> Tuple[float, float, float]:
    return interval([statistics.fmean(worker["iteration_ns"] for worker in run["workers"]) / 1e6 for run in runs])


def ms(made: Tuple[float, float, float]) -> str:
    return with_interval(made, " ms", digits=3)


def waited_for(run: Any, of: Callable[[Any], Any] = lambda worker: worker) -> Dict[str, int]:
    """How long the others waited for each rank."""
    made: Dict[str, int] = {}
    for worker in run["workers"]:
        for rank, nanoseconds in of(worker)["waits_ns"].items():
            made[rank] = made.get(rank, 0) + nanoseconds
    return made


def latest(run: Any, of: Callable[[Any], Any] = lambda worker: worker) -> Tuple[str, float]:
    """For whom the others waited longest, and its share of all that they waited for each other."""
    waits = waited_for(run, of)
    if not waits:
        return "nobody", 0.0
    rank = max(waits, key=lambda one: waits[one])
    return rank, waits[rank] / sum(waits.values())


def latest_text(runs: List[Any]) -> str:
    """"2 (97 %)"; where runs differ, of one after the other."""
    made = [latest(run) for run in runs]
    if len({rank for rank, _ in made}) == 1:
        least, most = (whole_percent(of(part for _, part in made)) for of in (min, max))
        return f"{made[0][0]} ({least if least == most else f'{least} to {most}'})"
    return ", then ".join(f"{rank} ({whole_percent(part)})" for rank, part in made)


def apart(run: Any) -> float:
    """What waits for each other differ by from the clocks, pair by pair, as a share of the time in averages."""
    difference = 0
    for worker in run["workers"]:
        ours, own = worker["waits_ns"], worker["own"]["waits_ns"]
        difference += sum(abs(ours.get(rank, 0) - own.get(rank, 0)) for rank in {*ours, *own})
    return difference / total(run, "average_ns")


def finding(figures: Figures) -> str:
    runs = figures["runs"]
    network = {name: share(runs[name], lambda run: total(run, "average_ns"))
               for name in ("near", "delay 20 ms", "delay 80 ms")}
    late = runs["late worker"]
    return (f"Averaging takes {network['near']} of an iteration where nothing is delayed. With 20 ms between any two "
            f"workers it takes {network['delay 20 ms']}, and with 80 ms {network['delay 80 ms']}. gpubound says which "
            f"kind of time that is. With 80 ms it is data that moves for {share(runs['delay 80 ms'], moving)} of an "
            f"iteration, "
            f"and a wait for a worker that is not there yet for {share(runs['delay 80 ms'], peers)}. Where worker "
            f"{LATE} is late by 100 ms, that wait is {share(late, peers)}. By gpubound the others wait longest for "
            f"worker {latest_text(late)}; the percentage is of all that workers wait for each other.")


def slow_link(figures: Figures) -> str:
    runs = figures["runs"]["far link"]
    moves = statistics.fmean(moving(run) - peers(run) for run in runs) > 0
    return (f"A slow link is another thing than a late worker. Where the link of worker {FAR} alone takes 40 ms, data "
            f"moves for {share(runs, moving)} of an iteration, and workers wait for each other for "
            f"{share(runs, peers)}; longest for worker {latest_text(runs)}. "
            + ("So gpubound says that the network is slow. Which link is slow it does not say; the worker that "
               "others wait for is a hint, and no more." if moves else
               "So gpubound takes it for workers that come late, which the network made late."))


def remedies(figures: Figures) -> str:
    runs, gathered = figures["runs"], AVERAGED["80 ms, gathered"]["gradients"]
    ring, grid, rare = (iteration_ms(runs[name]) for name in ("delay 80 ms", "80 ms, grid", "80 ms, gathered"))
    each = (rare[0] / gathered, rare[1] / gathered, rare[2] / gathered)
    near, far, squared = (statistics.fmean(total(run, "average_ns") / iterations_of(run) for run in runs[name]) / 1e6
                          for name in ("near", "delay 80 ms", "80 ms, grid"))
    delay_ms = AVERAGED["delay 80 ms"]["delay_ms"]
    return (f"gloo's average of four takes {number((far - near) / delay_ms)} delays, one after the other; one in a "
            f"grid, as in Moshpit SGD, {number((squared - near) / delay_ms)}. With 80 ms an iteration takes "
            f"{ms(ring)}, and {ms(grid)} in a grid. With {gathered} gradients for each average, as in DeDLOC, it is "
            f"{ms(each)} for each gradient.")


def asynchrony(figures: Figures) -> str:
    runs = figures["runs"]
    gaps = {name: [run["staleness"]["gap"] for run in runs[name]] for name in SERVED}
    means = {name: interval([run["staleness"]["mean_behind"] for run in runs[name]]) for name in SERVED}
    (plain, dana), ratio = SERVED, study.ratio_interval(*gaps.values())
    near, far = (statistics.fmean(worker["iteration_ns"] / 1e6 for run in runs[plain] for worker in run["workers"]
                                  if (worker["rank"] == WORKERS) == is_far) for is_far in (False, True))
    return (f"With a server an iteration takes {number(far, 3)} ms for the worker with the far link, and "
            f"{number(near, 3)} ms for the others. A gradient is {with_interval(means[plain])} versions old when it "
            f"is applied with Nesterov's momentum, {with_interval(means[dana])} with DANA's. DANA sends weights as "
            "they will be. Their distance from the weights that the gradient meets, the gap, is with Nesterov's "
            f"momentum {with_interval(ratio)} times that with DANA's"
            + (", which is no difference that so few runs show." if ratio[1] <= 1 <= ratio[2] else "."))


def checked(figures: Figures) -> str:
    differences = [apart(run) for runs in figures["runs"].values() for run in runs]
    same = [run["staleness"]["behind"] == run["staleness"]["own"]["behind"] for name in SERVED
            for run in figures["runs"][name]]
    named = [latest(run)[0] == latest(run, by_clocks)[0] for name in AVERAGED for run in figures["runs"][name]]
    return (f"Waits for each other, worker by worker and peer by peer, differ from the clocks by "
            f"{percent_of(statistics.median(differences))} of the time in averages as the median over all cases, and "
            f"by {percent_of(max(differences))} at most. The worker waited for longest is the one that the clocks say "
            f"in {sum(named)} of {len(named)} cases. The histogram of staleness is that of the server, gradient by "
            f"gradient, in {sum(same)} of {len(same)} cases.")


def percent_of(value: float) -> str:
    return f"{number(100 * value)} %"


def page(figures: Figures) -> str:
    runs = figures["runs"]
    time_rows, check_rows, stale_rows = [], [], []
    for name, of in runs.items():
        time_rows.append([name, ms(iteration_ms(of)), share(of, lambda run: total(run, "average_ns")), share(of, peers),
                          share(of, moving), share(of, own_part),
                          latest_text(of) if name in AVERAGED else "server"])
        values = [[statistics.fmean(total(run, key, side) / iterations_of(run) / 1e6 for run in of)
                   for side in (lambda worker: worker, by_clocks)] for key in ("total_ns", "average_ns", "waits_ns")]
        check_rows.append([name, *(number(value, 3) for pair in values for value in pair),
                           percent_of(max(map(apart, of)))])
    for name in SERVED:
        for run in runs[name]:
            stale = run["staleness"]
            counts = ", ".join(f"{behind}: {count}" for behind, count in
                               sorted(stale["behind"].items(), key=lambda row: int(row[0])))
            stale_rows.append([f"{name}, run {run['seed']}", counts, number(stale["mean_behind"], 3),
                               f"{stale['gap']:.1e}"])
    overdue = [run["network"]["overdue_median_ns"] / 1e6 for of in runs.values() for run in of]
    lost = [run["network"]["lost"] for run in runs["loss 1 %"]]
    return study.assembled(NAME, [
        "# Learning together over slow networks",
        prose("DeDLOC (Diskin et al., arXiv 2106.10207) and Moshpit SGD (Ryabinin et al., arXiv 2103.03239) train over "
              "the internet, and DANA (Hakimi et al., arXiv 1907.11612) lets gradients be stale rather than wait. "
              "Where does the time of four workers go when the network between them is slow, and does gpubound say "
              "it?"),
        prose(finding(figures)),
        prose(slow_link(figures)),
        prose(remedies(figures)),
        prose(asynchrony(figures)),
        f"![Where an iteration goes]({NAME}.svg)",
        "## Where the time goes",
        table(["network", "iteration", "averaging", "of it: waits for a peer", "data moves", "own work",
               "waited for longest"], time_rows),
        prose("Shares are of the time of iterations, over the four workers. *averaging* is operation `average` of the "
              "report. Of it, *waits for a peer* are the rows of `waits[]`, *data moves* is all else in layer `wait`, "
              "and *own work* is what lies in other layers, with the time in which the thread had no core. The last "
              "column has the worker that the others waited for longest, and its share of all waits for each other. "
              "Where such waits are short, it is whoever happened to come last."
              + (f" Intervals are over {SEEDS} runs, by Student's distribution." if SEEDS > 1 else
                 " One run of each: how much another would differ is not known.")),
        "\n".join(f"- *{name}*: {IS[name]}." for name in runs),
        "## Staleness",
        table(["run", "versions old: gradients", "mean", "mean gap"], stale_rows),
        prose("From `run.training.samples` of the report, which the server's calls of `gpubound.policy_version()` and "
              "`gpubound.consumed()` make. The gap is the root of the mean square of how far weights have moved "
              "between what the worker was sent and what its gradient was applied to. The program works it out and "
              "records it by `gpubound.metric()`; gpubound does not see weights."),
        "## Against the program's clocks",
        prose(checked(figures)),
        table(["ms of an iteration", "all: gpubound", "clocks", "averaging: gpubound", "clocks",
               "waits for a peer: gpubound", "clocks", "pairs differ by, at most"], check_rows),
        prose("Each worker writes down when its loop begins, when it comes to an average, begins to wait and leaves "
              "it, and when an iteration ends. The times at which all came say which worker waited for which. "
              "*averaging* is longer "
              "by gpubound: the operation holds the copies of gradients too, the clocks only the calls. *all* is "
              "shorter by gpubound, by what lies between operations."),
        "## What is not seen",
        "\n".join(f"- {sentence}" for sentence in map(indented, (
            "Which link is slow, what gets lost, and how many bytes move. gpubound sees that a wait goes on after "
            "everybody has come, and no packets.",
            "Of an answer from a server, which part is the way. A worker waits for the server until that sends its "
            "answer. The gradient's way there is part of that wait; only the answer's way back is data that moves.",
            "Whose gradients are stale. `versions_behind[]` is over all of them.",
            "Ranks on other hosts. All processes are on one host here, and share its clock, so that nothing had to be "
            "aligned. Collectives on the CPU have no peer across hosts: there gpubound would say of all of this that "
            "data moves. Of collective kernels of GPUs it aligns the clocks of hosts.",
            "A table of ranks. `ranks[]` of the report is about collective kernels. What stands here is from `waits[]` "
            "and `cells[]`, by whose `pid` the program's clocks say the rank.",
            f"What to do. The first screen of a run of averages says: \"{figures['advice']}\" It does not say that "
            "this time is a wait, whether for a worker or for the network."))),
        "## How it was run",
        prose("`averaging_workers.py` forks its workers, each into a network namespace with one link, a TUN device. "
              "`links.py` passes packets between the links, after their delay; it needs no netem, which not every "
              "kernel has. Packets and TCP are real; the wires are a loop in Python, which needs a core too: it "
              f"passed packets on {number(statistics.median(overdue))} ms later than it should, as the median over the "
              f"medians of all cases ({number(min(overdue))} to {number(max(overdue))}). Of *loss 1 %* "
              f"{' and '.join(str(count) for count in lost)} packets were lost. Workers balance poles whose "
              "environments run at the pace of the world, 5 ms a step, and learn by REINFORCE: 642 parameters. An "
              "average is `torch.distributed.all_reduce` by gloo, which takes several messages, one after the other. "
              f"Each worker does {figures['iterations']['averaged']} iterations, and "
              f"{figures['iterations']['served']} with a server."),
        prose("The script needs root, and says what is missing where it cannot run. Namespaces end with their "
              "processes, and have no other way out."),
        prose(study.where_measured(figures)),
    ])


def indented(sentence: str) -> str:
    return "\n  ".join(study.textwrap.wrap(sentence, study.WIDTH - 2, break_long_words=False, break_on_hyphens=False))


def draw(figures: Figures, axes: Any) -> None:
    colours = {"waits for a peer": "#cb181d", "data moves": "#08519c", "own work of averaging": "#9ecae1",
               "all else": "#d9d9d9"}
    names = list(figures["runs"])
    left = [0.0] * len(names)
    parts: Tuple[Callable[[Any], float], ...] = (peers, moving, own_part,
                                                 lambda run: run["total_ns"] - total(run, "average_ns"))
    for (label, colour), part in zip(colours.items(), parts):
        widths = [statistics.fmean(part(run) / iterations_of(run) / 1e6 for run in figures["runs"][name])
                  for name in names]
        axes.barh(names, widths, left=left, color=colour, label=label)
        left = [begin + width for begin, width in zip(left, widths)]
    axes.invert_yaxis()
    axes.set_xlabel("an iteration (ms)")
    axes.legend(frameon=False, fontsize="small", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
