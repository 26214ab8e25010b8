#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do vectorisation, a compiler and fused steps make of a simulator, and where do they stop helping? Cartpole and
a simulator of adjustable memory traffic, in six variants on a CPU: throughput over environments, over fused steps and
over memory traffic, the cause of each bend as gpubound names it, and what `gpubound whatif` had predicted.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/vectorisation.py
"""
import re
import statistics
import subprocess
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

import parts
import study
from parts import calls_of, factor, ns_text, rate_text, split, throughput
from study import Figures, interval, number, percent, prose, ratio_interval, table

NAME = "vectorisation"
SEEDS, SMALL_SEEDS = 3, 2  # repetitions of each part
SECONDS, SMALL_SECONDS = 0.04, 0.01  # of CPU time, for a repetition
WHAT_IF_SECONDS, SMALL_WHAT_IF_SECONDS = 0.2, 0.05
VARIANTS = {"loop": "Python loop", "gymnasium": "gymnasium", "torch": "PyTorch", "jax": "JAX",
            "scan": "JAX, fused steps", "blocks": "JAX, fused steps by block"}
# What the paper reports, of a GPU: at most for vectorisation, XLA over PyTorch, fusion, that with more memory traffic.
REPORTED = {"vectorisation": 1024, "XLA": 13.4, "fusion": 11.3, "traffic": 1024}
FEW, MANY = 16, 4096  # environments over which steps are fused
FUSED = 16  # steps, where environments are varied
TRAFFIC_FUSED, TRAFFIC_ENVIRONMENTS, LOOP_ENVIRONMENTS = 16, 256, 4
FLOAT_BYTES = 4
VECTORISE = 16  # what `gpubound whatif` is asked for
BENT = 0.5  # a curve bends where throughput grows by less than half of what the environments do
AXES = {"environments": "environments", "fused": "fused steps", "floats": "floats of state"}


def part(variant: str, environments: int, fused: int = 1, floats: int = 4, simulator: str = "cartpole") -> str:
    """As vectorised_simulators.py takes it. Iterations take about a millisecond: most have a core throughout."""
    if simulator == "cartpole":
        most = {"loop": 256 // environments, "gymnasium": 64 // environments, "torch": 4, "jax": 65536 // environments}
        steps = min(most.get(variant, 64), 64)
    else:
        steps = min(4096 // floats, 16)
    return f"{variant}:{simulator}:{floats}:{environments}:{fused}:{max(fused, steps, 1)}"


def traffic(variant: str, floats: int) -> str:
    fused = TRAFFIC_FUSED if variant in ("scan", "blocks") else 1
    return part(variant, LOOP_ENVIRONMENTS if variant == "loop" else TRAFFIC_ENVIRONMENTS, fused, floats, "traffic")


# By variant, the environments that it has; loops of Python would take minutes for more.
OVER_ENVIRONMENTS = {"loop": (1, 16, 128), "gymnasium": (1, 16, 128),
                     **dict.fromkeys(("torch", "jax", "scan"), (1, 16, 256, 4096, 16384))}
SMALL_OVER_ENVIRONMENTS = {"loop": (1, 16), "gymnasium": (1, 16), "torch": (1, 16), "jax": (1, 16), "scan": (1, 16)}
OVER_FUSED = {FEW: (16, 64, 256), MANY: (4, 16, 64)}
SMALL_OVER_FUSED = {FEW: (16,)}
OVER_FLOATS = {"loop": (4, 256), **dict.fromkeys(("torch", "jax", "scan", "blocks"), (4, 256, 4096, 16384))}
SMALL_OVER_FLOATS = {"jax": (4, 64), "scan": (4, 64), "blocks": (4, 64)}


def sweeps(small: bool) -> Dict[str, Dict[str, List[str]]]:
    """By sweep and curve the parts, in order."""
    of_environments = SMALL_OVER_ENVIRONMENTS if small else OVER_ENVIRONMENTS
    of_floats = SMALL_OVER_FLOATS if small else OVER_FLOATS
    of_fused = SMALL_OVER_FUSED if small else OVER_FUSED
    return {
        "environments": {variant: [part(variant, environments, FUSED if variant == "scan" else 1)
                                   for environments in of] for variant, of in of_environments.items()},
        "fused": {str(environments): [part("jax", environments),
                                      *(part("scan", environments, fused) for fused in of)]
                  for environments, of in of_fused.items()},
        "floats": {variant: [traffic(variant, floats) for floats in of] for variant, of in of_floats.items()}}


def parts_of(curves: Dict[str, Dict[str, List[str]]]) -> List[str]:
    return list(dict.fromkeys(name for sweep in curves.values() for of in sweep.values() for name in of))


def what_ifs(small: bool) -> List[Tuple[str, str]]:
    """Pairs of parts: that whose run is asked what the other would bring."""
    few = [(part("torch", FEW), part("jax", FEW)), (part("jax", FEW), part("scan", FEW, 16))]
    return few if small else [*few, (part("jax", MANY), part("scan", MANY, 16))]


def run_name(name: str) -> str:
    return name.replace(":", "-")


def program(recorder: study.Recorder, clocks: str, repetitions: int, seconds: float,
            names: Sequence[str]) -> study.Program:
    return parts.program(recorder, "vectorised_simulators.py", clocks, repetitions, seconds, names)


def record(recorder: study.Recorder, small: bool) -> None:
    seeds, seconds = (SMALL_SEEDS, SMALL_SECONDS) if small else (SEEDS, SECONDS)
    wanted = {"all": program(recorder, "all", seeds, seconds, parts_of(sweeps(small)))}
    for name in dict.fromkeys(before for before, _ in what_ifs(small)):
        wanted[run_name(name)] = program(recorder, run_name(name), 1,
                                         SMALL_WHAT_IF_SECONDS if small else WHAT_IF_SECONDS, [name])
    recorder.record_all(wanted, calibrates=False)
    parts.play_unrecorded(program(recorder, parts.UNRECORDED, seeds, seconds, unrecorded_parts(small)), recorder)


def unrecorded_parts(small: bool) -> List[str]:
    """Those whose costs of recording are measured: of each variant one with few environments, where it costs most."""
    return [part(variant, FEW, FUSED if variant == "scan" else 1) for variant in sweeps(small)["environments"]]


# --- Reading ---

def read(recorder: study.Recorder, small: bool) -> Figures:
    figures = parts.read_parts(recorder, "all")
    pairs = what_ifs(small)
    return {"sweeps": sweeps(small), **figures, "unrecorded_ns": parts.unrecorded(recorder),
            "what_ifs": [asked(recorder, before, after, figures["runs"]) for before, after in pairs],
            "refused": {change: answer_of(recorder, run_name(pairs[1][0]), change) for change in (
                f"--vectorise {VECTORISE}", "--fuse simulation", "--graph-capture simulation")}}


def asked(recorder: study.Recorder, before: str, after: str, runs: Dict[str, List[Any]]) -> Dict[str, Any]:
    """What part of an iteration `gpubound whatif` says is left when calls become as many fewer as they did."""
    import gpubound

    fewer = calls_of(runs[after][0], after) / calls_of(runs[before][0], before)
    run = gpubound.open(recorder.path(run_name(before)))
    made: Dict[str, Any] = {"before": before, "after": after, "factor": fewer, "predicted": {}}
    for key, layers in (("python", ("python",)), ("all", ("python", "backend"))):
        changes = [f"layer={layer}:{fewer:.9f}" for layer in layers]
        ratio = run.whatif(*changes)["iteration"]
        made["predicted"][key] = [ratio[name] for name in ("predicted_part", "predicted_part_low",
                                                           "predicted_part_high")]
    return made


def answer_of(recorder: study.Recorder, name: str, change: str) -> Dict[str, Any]:
    """What `gpubound whatif` says to a change: its exit status, and the sentence that says why it changes nothing."""
    done = subprocess.run([str(recorder.command), "whatif", str(recorder.path(name)), *change.split()],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    said = " ".join((done.stdout if done.returncode == 0 else done.stderr).split())
    found = re.search(r"No launch[^.]*\." if done.returncode == 0 else r"gpubound: ([^.]*\.)", said)
    if not found:
        raise study.Failed(f"gpubound whatif {change}: expected why it changes nothing, found: {said}")
    return {"status": done.returncode, "said": found.group(found.lastindex or 0)}


# --- Figures of a part ---

def parsed(name: str) -> Dict[str, Any]:
    variant, simulator, *counts = name.split(":")
    return {"variant": variant, "simulator": simulator,
            **dict(zip(("floats", "environments", "fused", "steps"), map(int, counts)))}


CAUSES = {"calls": "time in calls (layer `backend`)", "python": "Python in the simulator",
          "around": "Python around the simulator"}


def bend(figures: Figures, names: Sequence[str], axis: str) -> Optional[Dict[str, Any]]:
    """Where a curve first gains less than half of what it would if a step took no longer; which part grew most."""
    for before, after in zip(names, names[1:]):
        wider = 1 if axis == "floats" else parsed(after)[axis] / parsed(before)[axis]
        gain = statistics.fmean(throughput(figures, after)) / statistics.fmean(throughput(figures, before))
        if gain >= BENT * wider:
            continue
        of = [split(figures, name) for name in (before, after)]
        # Of fused steps what one more costs does not shrink: then it is what is largest that limits.
        grown = {key: of[1][key] - of[0][key] for key in of[0]} if axis != "fused" else dict(of[1])
        total = sum(value for value in grown.values() if value > 0)
        cause = max(grown, key=lambda key: grown[key])
        return {"from": parsed(before)[axis], "to": parsed(after)[axis], "gain": gain, "wider": wider, "cause": cause,
                "share": grown[cause] / total, "calls": [calls_of(figures["runs"][name][0], name)
                                                         for name in (before, after)]}
    return None


# --- The page ---

def bytes_text(count: float) -> str:
    return f"{number(count / 2**20)} MiB" if count >= 2**20 else f"{number(count / 2**10)} KiB"


def best(figures: Figures, names: Sequence[str]) -> str:
    return max(names, key=lambda name: statistics.fmean(throughput(figures, name)))


def finding(figures: Figures) -> str:
    curves, traffic_curves = figures["sweeps"]["environments"], figures["sweeps"]["floats"]
    vectorised = best(figures, [*curves["torch"], *curves["jax"]])
    over = {variant: factor(figures, vectorised, best(figures, curves[variant])) for variant in ("loop", "gymnasium")}
    at, calls = parsed(vectorised), {variant: number(calls_of(figures["runs"][part(variant, FEW)][0],
                                                              part(variant, FEW))) for variant in ("torch", "jax")}
    gains = []
    for environments, names in figures["sweeps"]["fused"].items():
        last = best(figures, names[1:])
        gains.append(f"{factor(figures, last, names[0])} at {int(environments):,} environments and "
                     f"{parsed(last)['fused']} steps a call")
    least, most = (parsed(traffic_curves["jax"][place])["floats"] for place in (0, -1))
    fused = {(variant, place): factor(figures, traffic_curves[variant][place], traffic_curves["jax"][place])
             for variant in ("scan", "blocks") for place in (0, -1)}
    return (f"Vectorisation brings {over['loop']} the env steps per second of the Python loop, with "
            f"{VARIANTS[at['variant']]} and {at['environments']:,} environments (the paper: up to "
            f"{REPORTED['vectorisation']:,}), and {over['gymnasium']} those of gymnasium. JAX does "
            f"{factor(figures, part('jax', FEW), part('torch', FEW))} what PyTorch does at {FEW} environments (the "
            f"paper: {REPORTED['XLA']}); gpubound counts {calls['torch']} calls for a step there, and {calls['jax']} "
            f"of JAX. Fused steps bring {', and '.join(gains)} (the paper: {REPORTED['fusion']}). With {least} floats "
            f"of state a scan of {TRAFFIC_FUSED} steps does {fused['scan', 0]} what a step a call does, with {most:,} "
            f"{fused['scan', -1]}. By block, where the state can stay in a cache, it does {fused['blocks', -1]} then "
            f"(the paper: up to {REPORTED['traffic']:,} as memory traffic grows).")


def bends(figures: Figures) -> List[List[str]]:
    rows = []
    for axis, over in AXES.items():
        for curve, names in figures["sweeps"][axis].items():
            found = bend(figures, names, axis)
            name = VARIANTS[curve] if curve in VARIANTS else f"JAX, {int(curve):,} environments"
            if found is None:
                rows.append([name, over, "none", "", "", ""])
                continue
            rows.append([name, over,
                         f"{found['from']:,} to {found['to']:,}",
                         f"{number(found['gain'])} of {number(found['wider'])}",
                         " to ".join(number(calls) for calls in found["calls"]),
                         f"{CAUSES[found['cause']]}, {study.whole_percent(found['share'])}"])
    return rows


def rows_of(figures: Figures, names: Sequence[str], axis: str) -> List[List[str]]:
    rows = []
    for name in names:
        of = split(figures, name)
        total = sum(of.values())
        calls = calls_of(figures["runs"][name][0], name)
        rows.append([VARIANTS[parsed(name)["variant"]], f"{parsed(name)[axis]:,}", rate_text(throughput(figures, name)),
                     ns_text(total), *(study.whole_percent(of[key] / total) for key in CAUSES), number(calls)])
    return rows


HEADS = ["env steps per second", "a step of all", "in calls", "Python, simulator", "Python, around", "calls a step"]


def traffic_rows(figures: Figures) -> List[List[str]]:
    rows = []
    for variant, names in figures["sweeps"]["floats"].items():
        for name in names:
            at, rate = parsed(name), throughput(figures, name)
            moved = statistics.fmean(rate) * at["floats"] * 2 * FLOAT_BYTES
            rows.append([VARIANTS[variant], f"{at['floats']:,}",
                         bytes_text(at["floats"] * at["environments"] * FLOAT_BYTES), rate_text(rate),
                         f"{number(moved / 1e9)} GB/s", study.whole_percent(split(figures, name)["calls"] /
                                                                        sum(split(figures, name).values())),
                         number(calls_of(figures["runs"][name][0], name))])
    return rows


def what_if_rows(figures: Figures) -> List[List[str]]:
    rows = []
    for row in figures["what_ifs"]:
        before, after = (parsed(row[key]) for key in ("before", "after"))
        times = [[1 / rate for rate in throughput(figures, row[key])] for key in ("after", "before")]
        measured = ratio_interval(*times)
        least, most = row["predicted"]["all"], row["predicted"]["python"]
        held = least[1] <= measured[2] and measured[1] <= most[2]
        to = f"{after['fused']} fused steps" if after["fused"] > 1 else VARIANTS[after["variant"]]
        rows.append([f"{VARIANTS[before['variant']]} to {to}, "
                     f"{before['environments']:,} environments", f"{number(1 / row['factor'])} x", percent(tuple(most)),
                     percent(tuple(least)), percent(measured), "yes" if held else "no"])
    return rows


def what_if_text(figures: Figures) -> str:
    rows = what_if_rows(figures)
    held = sum(row[-1] == "yes" for row in rows)
    said = "; ".join(f"to `{change}` (exit status {of['status']}) \"{of['said']}\""
                     for change, of in figures["refused"].items())
    return (f"`gpubound whatif` has no option for fewer calls on a CPU. Asked, it says {said}. What it can do is scale "
            "layers. Two questions bound the truth. In the first only the Python between calls becomes as many times "
            "less as the calls do (`layer=python`). In the second calls do too (`layer=backend`), as if they had no "
            f"arithmetic. Measured time lies between the two for {held} of {len(rows)} changes, their intervals "
            "included. The bounds are wide: no run on a CPU says how much of a call is fixed cost and how much is "
            "arithmetic. On a GPU kernels say it, and `--fuse` and `--vectorise` apply there.")


def recording_text(figures: Figures) -> str:
    said = ", ".join(f"{number(100 * cost)} % ({VARIANTS[parsed(name)['variant']]})"
                     for name, cost in parts.recording_costs(figures).items())
    return (f"Figures include what recording costs. Against runs without gpubound, with {FEW} environments, it makes "
            f"iterations longer by {said}.")


def unsaid_text(figures: Figures) -> str:
    cpu, own = figures["run"]["simulation_cpu"], figures["run"]["own_cpu_ns"]
    kinds = ", ".join(f"`{kind}`" for kind in figures["run"]["diagnosis"])
    return ("Which of Python, calls and arithmetic limits a simulator on a CPU, the report does not conclude. The "
            f"shares above are its figures, the sentences are the study's; of the run it says {kinds}. Time on a core "
            "is known for operations of a run, and not for its phases. gpubound reads what the kernel counts 50 times "
            "a second at most, so it is rough where operations are short and cores are missing: "
            f"{number(cpu['on_cpu_ns'] / 1e9)} s of `simulation`, right to {number(cpu['error_ns'] / 1e9)} s, by "
            f"gpubound; {number(own / 1e9)} s of all repetitions, without what compiles, by the program's clock. That "
            "is why this page takes iterations that nobody interrupted. Throughput by phase is not in the report "
            "either: the study asks the tables `phase`, `iteration`, `scope` and `counter`. Calls of NumPy have no "
            "hook.")


def method_text(figures: Figures) -> str:
    repetitions = min(len(of) for of in figures["runs"].values())
    return (f"`vectorised_simulators.py` plays each part {repetitions} times in an order drawn by chance, in one "
            "process, with a phase for each. It prepares and compiles all of them before. Each figure is the mean of "
            "the repetitions, with its 95 % interval by Student's distribution. That of a repetition is its iteration "
            f"at the quantile of {100 // parts.QUANTILE} %. Others interrupt an iteration of a millisecond seldom, so "
            "that one had its core throughout; long ones, of many environments or floats, have wider intervals. All "
            "variants have the same equations, starts and actions; `states` in the figures has where the first "
            "environment ends. PyTorch and JAX have one thread and floats of 32 bits, Python has 64. Calls of JAX "
            "return when their work is done. Actions are there beforehand, so no policy is in these figures. "
            f"{recording_text(figures)}")


BENDS = """A curve bends where throughput first grows by less than half of what environments or fused steps do, or falls
    by half over floats of state. The last column is gpubound's split of an iteration. Over environments and floats it
    is the part that grew most of a step of all environments, and its share of what that takes more after the bend. Over
    fused steps it is the largest part that is left. Where calls do not become more and their time grows or stays, it is
    the arithmetic in them, or memory traffic."""
COLUMNS = """*A step of all* is a step of every environment. Calls are those from Python into the framework (layer
    `backend`), which gpubound's hooks record, for a step of all environments. *Python, simulator* is the rest of the
    operation `simulation`; what NumPy does in gymnasium's environments counts there, for which there is no hook.
    *Python, around* is the program's loop, its clocks and what recording costs."""
TRAFFIC = f"""A simulator of {TRAFFIC_ENVIRONMENTS} environments ({LOOP_ENVIRONMENTS} of the Python loop) that reads and
    writes each float of its state in each step, and does two operations with it. Fused are {TRAFFIC_FUSED} steps. Bytes
    are env steps per second times floats, read and written: of caches, where states fit into them. A scan goes over all
    states for each step, as calls do. By block, as many environments as have 64 KiB of state play all fused steps
    before the next ones do. The paper's fused kernels keep states in registers so; here they can stay in a cache. One
    thread of a CPU has little arithmetic for each byte of memory traffic; a GPU has more, so such factors can be larger
    there."""


def page(figures: Figures) -> str:
    curves = figures["sweeps"]
    over_environments = [row for names in curves["environments"].values()
                         for row in rows_of(figures, names, "environments")]
    over_fused = [row for names in curves["fused"].values() for row in rows_of(figures, names, "fused")]
    return study.assembled(NAME, [
        "# Vectorisation and fused steps",
        "**CPU**: all figures are of one thread of a CPU. Those of a GPU come when one can be had.",
        prose("Gleeson et al. (2022, arXiv 2207.07736) looked at simulators on a GPU. They reported up to "
              f"{REPORTED['vectorisation']:,} times the speed of simulators on a CPU by vectorisation. XLA was "
              f"{REPORTED['XLA']} times as fast as PyTorch, by less CPU time in calls from Python into the framework. "
              f"Fusing steps of the simulator brought {REPORTED['fusion']} times, and up to {REPORTED['traffic']:,} as "
              "its memory traffic grows. Those figures are theirs, of a GPU. What is left of it on a CPU, and does "
              "gpubound name the causes?"),
        prose(finding(figures)),
        prose(parts.truth_text(figures)),
        f"![Env steps per second, on a CPU]({NAME}.svg)",
        "## Where the curves bend (CPU)",
        table(["curve", "over", "bends from", "throughput grows, times", "calls a step", "what grows or limits"],
              bends(figures)),
        prose(BENDS),
        "## Over environments (CPU)",
        table(["variant", "environments", *HEADS], over_environments),
        prose(f"Cartpole. Fused are {FUSED} steps in a call. {COLUMNS}"),
        "## Over fused steps (CPU)",
        table(["variant", "fused steps", *HEADS], over_fused),
        prose(f"Cartpole with {' and then '.join(f'{int(at):,}' for at in curves['fused'])} environments."),
        "## Over memory traffic (CPU)",
        table(["variant", "floats of state", "all states", "env steps per second", "state read and written",
               "in calls", "calls a step"], traffic_rows(figures)),
        prose(TRAFFIC),
        "## What `gpubound whatif` predicts (CPU)",
        table(["change", "fewer calls", "time left at most, `layer=python`", "at least, `layer=backend` too",
               "measured", "between"], what_if_rows(figures)),
        prose(what_if_text(figures)),
        "## What gpubound cannot say here",
        prose(unsaid_text(figures)),
        "## How it was run",
        prose(method_text(figures)),
        prose(study.where_measured(figures)),
    ])


def draw(figures: Figures, axes: Any) -> None:
    colours = {"loop": "#969696", "gymnasium": "#525252", "torch": "#cb181d", "jax": "#9ecae1", "scan": "#08519c",
               "blocks": "#238b45", str(FEW): "#9ecae1", str(MANY): "#08519c"}
    grid = axes.figure.add_gridspec(1, 3)
    axes.set_subplotspec(grid[0])
    sides = [axes, axes.figure.add_subplot(grid[1]), axes.figure.add_subplot(grid[2])]
    for side, (axis, label) in zip(sides, AXES.items()):
        for curve, names in figures["sweeps"][axis].items():
            made = [interval(throughput(figures, name)) for name in names]
            side.errorbar([parsed(name)[axis] for name in names], [mean for mean, _, _ in made],
                          yerr=[[mean - low for mean, low, _ in made], [high - mean for mean, _, high in made]],
                          marker="o", markersize=3, linewidth=1, color=colours.get(curve),
                          label=f"{int(curve):,} environments" if axis == "fused" else VARIANTS[curve])
        side.set_xscale("log")
        side.set_yscale("log")
        side.set_xlabel(label)
        side.spines[["top", "right"]].set_visible(False)
        side.legend(frameon=False, fontsize="xx-small", loc="lower left" if axis == "floats" else "lower right")
    axes.set_ylabel("env steps per second, CPU")


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
