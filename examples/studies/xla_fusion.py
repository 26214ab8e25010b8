#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do XLA's fusion decisions make of a Cartpole step written in JAX, and does gpubound name the cause? Eight
variants on a CPU: throughput, the kernels that XLA makes of a step, its own count of arithmetic and bytes, and what
gpubound says of the time.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/xla_fusion.py
"""
import collections
import itertools
import json
import statistics
import sys
from typing import Any, Dict, List, Sequence, Tuple

import hlo
import parts
import study
from parts import calls_of, ns_text, rate_text, split, throughput
from study import Figures, interval, number, prose, ratio_interval, table, with_interval

NAME = "xla_fusion"
SEEDS, SMALL_SEEDS = 5, 2  # repetitions of each part
SECONDS, SMALL_SECONDS = 0.1, 0.01  # of CPU time, for a repetition
VARIANTS = {"call": "a call a step", "scan": "scan", "generator": "scan, XLA's generator",
            "beforehand": "scan, drawn beforehand", "separate": "scan, no concatenation",
            "unroll": "scan, unrolled", "unfused": "no concatenation, no fusion",
            "unroll_unfused": "unrolled, no fusion"}
# From a variant to another, and what is changed of the first one.
CHANGES = (("call", "scan", "all steps in a call"), ("scan", "generator", "XLA's generator"),
           ("scan", "beforehand", "drawn beforehand"), ("beforehand", "separate", "no concatenation"),
           ("separate", "unroll", "unrolled"), ("separate", "unfused", "no fusion"),
           ("unroll", "unroll_unfused", "no fusion"))
UNROLLED = 10  # steps in a pass of the loop: as in fused_cartpole.py, and as in the paper
EQUATIONS = 2  # sines and cosines in the equations of a step
SCOPES = {"draw", "physics", "reset"}  # jax.named_scope in fused_cartpole.py
# By environments, the steps of an iteration: multiples of UNROLLED.
SIZES, SMALL_SIZES = {16: 640, 2048: 80}, {16: 80, 64: 40}
REPORTED = 10.56  # times the speed of its baseline, at most, says the paper's abstract
# What summaries of the paper say that agree with each other; the paper itself was not at hand.
SUMMARISED = {"kernels": 6, "beforehand": 1.87, "separate": 3.41, "unroll": 3.5, "CUDA": 2.7}


def sizes(small: bool) -> Dict[str, List[str]]:
    """By environments the parts, in the order of VARIANTS."""
    return {str(environments): [f"{variant}:{environments}:{steps}" for variant in VARIANTS]
            for environments, steps in (SMALL_SIZES if small else SIZES).items()}


def record(recorder: study.Recorder, small: bool) -> None:
    def program(clocks: str, names: Sequence[str]) -> study.Program:
        return parts.program(recorder, "fused_cartpole.py", clocks, SMALL_SEEDS if small else SEEDS,
                             SMALL_SECONDS if small else SECONDS, names)
    of = sizes(small)
    recorder.record_all({"all": program("all", [name for names in of.values() for name in names])}, calibrates=False)
    # What recording costs is measured where iterations are short.
    parts.play_unrecorded(program(parts.UNRECORDED, next(iter(of.values()))), recorder)


def read(recorder: study.Recorder, small: bool) -> Figures:
    facts = json.loads(parts.clocks_of(recorder, "all").read_text())["facts"]
    return {"sizes": sizes(small), **parts.read_parts(recorder, "all"), "unrecorded_ns": parts.unrecorded(recorder),
            "compiled": {name: compiled(name, of) for name, of in facts.items()}, "said": said(recorder)}


def said(recorder: study.Recorder) -> Dict[str, Any]:
    """What gpubound has to say of what is in a call: names of calls while parts were played, how many scopes it has by
    the names that the program gives to what is compiled, and the first finding of its report."""
    import gpubound

    run = gpubound.open(recorder.path("all"))
    begin_ns = min(run.table("phase", ["time_ns"]).values()["time_ns"])
    calls = run.sql(f"SELECT DISTINCT name FROM scope WHERE layer = 'backend' AND begin_ns > {begin_ns} ORDER BY name")
    scopes = run.sql(f"SELECT count(*) AS count FROM scope WHERE name IN {tuple(SCOPES)}")
    finding = run.report(replay=False)["diagnosis"][0]
    return {"calls": calls.values()["name"], "scopes": scopes.values()["count"][0],
            "finding": f"{finding['finding']} {finding['action']}"}


# --- What XLA made ---

COUNTED = ("kernels", "copies", "fused", "across", "of_several_results")


def compiled(name: str, facts: Dict[str, Any]) -> Dict[str, float]:
    """Of a part: kernels of a step, copies beside them; of the kernels those of several instructions, with
    instructions of several named scopes, and of several results; and costs of a step of one environment, as XLA counts
    them: of the body of a loop once."""
    variant, environments, steps = name.split(":")
    module, counts = hlo.Module(facts["hlo"]), collections.Counter[str]()
    for instruction, times in module.executed():
        if instruction.opcode == "copy":
            counts["copies"] += times
            continue
        counts["kernels"] += times
        counts["fused"] += times * (len(module.within(instruction)) > 1)
        counts["across"] += times * (len(module.scopes(instruction) & SCOPES) > 1)
        counts["of_several_results"] += times * (" = (" in instruction.line)
    in_a_call = 1 if variant == "call" else int(steps)
    in_a_body = UNROLLED if variant in ("unroll", "unroll_unfused") else 1
    return {**{key: counts[key] / in_a_call for key in COUNTED},
            **{key: cost / in_a_body / int(environments) for key, cost in facts["costs"].items()}}


# --- The page ---

COSTS = {"kernels": "kernels", "flops": "flops", "bytes accessed": "bytes", "transcendentals": "sines and cosines"}


def variant_of(name: str) -> str:
    return VARIANTS[name.split(":")[0]]


def quoted(name: str) -> str:
    return f'"{variant_of(name)}"'


def of_size(figures: Figures, size: str) -> Dict[str, str]:
    """By variant its part."""
    return {name.split(":")[0]: name for name in figures["sizes"][size]}


def largest(figures: Figures) -> str:
    return max(figures["sizes"], key=int)


def speed(figures: Figures, after: str, before: str) -> Tuple[float, float, float]:
    """How many times as fast."""
    return ratio_interval(throughput(figures, after), throughput(figures, before))


def speed_text(ratio: Tuple[float, float, float]) -> str:
    if ratio[0] < 1:
        return with_interval((1 / ratio[0], 1 / ratio[2], 1 / ratio[1]), " times") + " as slow"
    return with_interval(ratio, " times") + " as fast"


def differ(ratio: Tuple[float, float, float]) -> bool:
    return not ratio[1] <= 1 <= ratio[2]


def finding(figures: Figures) -> str:
    size = largest(figures)
    of = of_size(figures, size)
    scans = [name for variant, name in of.items() if variant != "call"]
    by_speed = sorted(scans, key=lambda name: -statistics.fmean(throughput(figures, name)))
    fewest = min(scans, key=lambda name: figures["compiled"][name]["kernels"])
    kernels = number(figures["compiled"][fewest]["kernels"])
    pairs = " and ".join(f"{right} at {int(size):,}" for size, right in zip(figures["sizes"],
                                                                           order_rows(figures)[0][1:]))
    fused, unrolled = (speed_text(speed(figures, of[with_it], of[without]))
                       for with_it, without in (("separate", "unfused"), ("unroll", "unroll_unfused")))
    return f"""At {int(size):,} environments, a scan without concatenation is {fused} with XLA's fusion as without. With
        {UNROLLED} steps unrolled it is {unrolled} with fusion as without. The variant with the fewest kernels,
        {quoted(fewest)}, has {kernels} of them a step, and is number {by_speed.index(fewest) + 1} of {len(scans)} by
        speed. Of pairs that differ in speed, the faster variant has fewer kernels in {pairs} environments. The fastest
        at {int(size):,} is {quoted(by_speed[0])}, {speed_text(speed(figures, by_speed[0], of['scan']))} as
        {quoted(of['scan'])} (the paper, from its baseline: at most {REPORTED} times)."""


def changes_text(figures: Figures) -> str:
    text = ""
    for size in figures["sizes"]:
        of = of_size(figures, size)
        drawn, generator, apart, unrolled = (
            speed_text(speed(figures, of[after], of[before])) for before, after in (
                ("scan", "beforehand"), ("scan", "generator"), ("beforehand", "separate"), ("separate", "unroll")))
        text += f"""At {int(size):,} environments, random numbers drawn beforehand make the scan {drawn}, and XLA's own
            generator in place of Threefry {generator}. The scan drawn beforehand is {apart} without concatenation,
            and then {unrolled} with {UNROLLED} steps unrolled. """
    return text


def cause_text(figures: Figures) -> str:
    """What unrolling does, by the same program without fusion."""
    of = of_size(figures, largest(figures))
    made = {variant: figures["compiled"][name] for variant, name in of.items()}
    sines = {variant: number(costs["transcendentals"]) for variant, costs in made.items()}
    unrolled, without = speed(figures, of["unroll"], of["separate"]), speed(figures, of["unroll_unfused"], of["unroll"])
    alone = made["separate"]["of_several_results"] == made["unroll"]["of_several_results"] == 0
    counted = max(made["unroll"][key] / made["separate"][key] for key in COSTS if key != "kernels")
    if not unrolled[2] < 1 < without[1]:
        conclusion = "These figures do not show that fusion makes the unrolled loop slow."
    else:
        part_of = "a part of that" if unrolled[2] < 1 / counted else "that"
        conclusion = f"""So fusion is what makes the unrolled loop slow: it saves kernels by computing the same again.
            XLA's own count, {number(counted)} times as high at most, explains {part_of}."""
    return f"""{ALONE if alone else ''} The equations have {EQUATIONS} sines and cosines. By XLA's count, a step of an
        environment has {sines['beforehand']} with concatenation, {sines['separate']} without, and {sines['unroll']}
        unrolled. Compiled without fusion, the unrolled one has {sines['unroll_unfused']}, and
        {number(made['unroll_unfused']['kernels'])} kernels. {conclusion}"""


ALONE = """Each kernel of a step without concatenation returns one array. What several arrays need, XLA computes again
    in the kernel of each, or in a kernel of its own."""


def compiled_rows(figures: Figures) -> List[List[str]]:
    keys = ("kernels", "fused", "across", "copies", "flops", "bytes accessed", "transcendentals")
    return [[variant_of(name), *(number(figures["compiled"][name][key]) for key in keys)]
            for name in figures["sizes"][largest(figures)]]


def speed_rows(figures: Figures) -> List[List[str]]:
    rows = []
    for size, names in figures["sizes"].items():
        for name in names:
            of = split(figures, name)
            total = sum(of.values())
            rows.append([variant_of(name), f"{int(size):,}", rate_text(throughput(figures, name)), ns_text(total),
                         *(study.whole_percent(of[key] / total) for key in ("calls", "python", "around")),
                         number(calls_of(figures["runs"][name][0], name))])
    return rows


def order_rows(figures: Figures) -> List[List[str]]:
    """In how many pairs of variants of a scan, one of which is faster, that one has less of something."""
    rows = []
    for key, label in COSTS.items():
        row = [label]
        for size in figures["sizes"]:
            names = [name for variant, name in of_size(figures, size).items() if variant != "call"]
            pairs = [pair for pair in itertools.permutations(names, 2) if speed(figures, *pair)[1] > 1]
            costs = [[figures["compiled"][name][key] for name in pair] for pair in pairs]
            row.append(f"{sum(fast < slow for fast, slow in costs)} of {len(pairs)}")
        rows.append(row)
    return rows


FEWER, WITHIN, NO_DIFFERENCE = "fewer calls", "time in calls", "no difference"


def change_rows(figures: Figures) -> List[List[str]]:
    rows = []
    for before, after, label in CHANGES:
        for size in figures["sizes"]:
            pair = [of_size(figures, size)[variant] for variant in (before, after)]
            ratio = speed(figures, *reversed(pair))
            took = [split(figures, name) for name in pair]
            apart = {key: took[1][key] - took[0][key] for key in took[0]}
            calls = [calls_of(figures["runs"][name][0], name) for name in pair]
            says = NO_DIFFERENCE if not differ(ratio) else FEWER if calls[1] < calls[0] else WITHIN
            rows.append([f"{variant_of(pair[0])}: {label}", f"{int(size):,}", speed_text(ratio),
                         signed(sum(apart.values())), signed(apart["calls"]), " to ".join(map(number, calls)), says])
    return rows


def signed(ns: float) -> str:
    return f"{'-' if ns < 0 else '+'}{ns_text(abs(ns))}"


def answer(figures: Figures) -> str:
    says = collections.Counter(row[-1] for row in change_rows(figures))
    named = "names the cause where Python calls JAX less often, and only there" if says[FEWER] else "names no cause"
    return f"""gpubound {named}. Else it shows that the difference is within a call that stays the same, and the HLO has
        to say why."""


def named_text(figures: Figures) -> str:
    rows, said = change_rows(figures), figures["said"]
    says = collections.Counter(row[-1] for row in rows)
    calls = ", ".join(f"`{name}`" for name in said["calls"])
    across = {name: costs["across"] / costs["kernels"] for name, costs in figures["compiled"].items()}
    most = max(across, key=lambda name: across[name])
    scopes = "no rows" if said["scopes"] == 0 else f"{said['scopes']:,} rows"
    names = ", ".join(sorted(SCOPES))
    return f"""Of {len(rows)} rows, gpubound names the cause in {says[FEWER]}: fewer calls, and less Python around them.
        In {says[WITHIN]} it says where the difference lies, in calls (layer `backend`), and not why. In each variant it
        calls them {calls}, after the function that is compiled. The scopes that the program names in that function
        ({names}) are {scopes} of the run, because JAX executes a compiled function as one on a CPU. The HLO has them,
        but XLA fuses across them: up to {study.whole_percent(across[most])} of a step's kernels have instructions of
        several ({quoted(most)}). The first finding of the report, on the whole run, is
        "{said['finding']}" The program already steps all environments at once. That a variant's fusion costs time, the
        report cannot see. Kernels by HLO name, and time by named scope, gpubound has on a GPU only."""


def paper_text() -> str:
    return f"""Of the paper only the abstract could be read: it has Cartpole, and "up to {REPORTED}x" over a baseline of
        its own. Two summaries of the paper, by others, agree on the rest, which could not be checked. They describe a
        baseline of {SUMMARISED['kernels']} kernels. Fusion ended there at a loop's tuple, at the generator's own kernel
        and at a concatenation with several users. Random numbers computed beforehand brought
        {SUMMARISED['beforehand']} times, a state without concatenation {SUMMARISED['separate']} times, and {UNROLLED}
        unrolled steps {SUMMARISED['unroll']} times; over which variant each, they leave open. CUDA by hand was
        {SUMMARISED['CUDA']} times as fast as the best of XLA. These figures are the paper's, of its GPU. Equations,
        sizes and code here are this study's own. Not repeated are the change of a rule in XLA's source, PyTorch,
        TorchScript and CUDA. This study adds a call a step, XLA's generator, and compiling without fusion."""


def method_text(figures: Figures) -> str:
    repetitions = min(len(of) for of in figures["runs"].values())
    costs = [100 * cost for cost in parts.recording_costs(figures).values()]
    median, least, most = (number(of(costs)) for of in (statistics.median, min, max))
    few = min(figures["sizes"], key=int)
    steps = " and ".join(f"{names[0].split(':')[-1]} steps of {int(size):,} environments"
                         for size, names in figures["sizes"].items())
    return f"""`fused_cartpole.py` plays each variant {repetitions} times in an order drawn by chance, in one process,
        with a phase for each. It compiles all of them before. Each figure is the mean of the repetitions, with its 95 %
        interval by Student's distribution. That of a repetition is its iteration at the quantile of
        {100 // parts.QUANTILE} %, so that most had their core throughout. Iterations have {steps}. All variants have
        the same equations, actions and first states. All but {quoted(of_size(figures, few)['generator'])} have the same
        random numbers; `states` in the figures has where the first environment ends. JAX has one thread and floats of
        32 bits, and its calls return when their work is done. Actions are there beforehand. Where random numbers are,
        too, drawing them is in no figure. Figures include what recording costs: against a run without gpubound, the
        time of iterations of {few} environments differs by {median} % in the median of variants, by {least} to {most} %
        in all."""


COMPILED = """These are of a step of all environments, by the optimised HLO that `compiled.as_text()` gives. Kernels are
    the fusions and single instructions of the function, and of the bodies and conditions of its loops times how often
    they run. Copies stand beside them. *Fused* kernels have several instructions; *across scopes* are those with
    instructions of several of the scopes draw, physics and reset. Flops, bytes, sines and cosines are what
    `cost_analysis()` counts, for one environment. It counts the body of a loop once: right for the loop over steps, too
    little for the loops in Threefry and in XLA's generator."""
SPEED = """*A step of all* is a step of every environment. Calls are those from Python into JAX (layer `backend`), which
    gpubound's hooks record. *Python, simulator* is the rest of the operation `simulation`, *Python, around* the
    program's loop, its clocks and what recording costs."""
ORDER = """These are the pairs of variants of a scan whose speeds differ beyond the intervals, and in how many of them
    the faster one has fewer. What decides the speed alone would have all of them."""
CHANGED = """Each row changes one thing of the variant that it begins with. Times are of a step of all environments,
    after the change less before it. Calls from Python that become fewer gpubound counts. Else it has the time in calls,
    of the same call before and after."""


def page(figures: Figures) -> str:
    return study.assembled(NAME, [
        "# XLA's fusion decisions on Cartpole",
        "**CPU**: all figures are of one thread of a CPU, but those of the paper, which are of its GPU.",
        prose(f"""Snider and Liang (2023, arXiv 2301.13062) looked at what XLA fuses in a Cartpole step that is written
            in JAX. They changed what is fused, and reported up to {REPORTED} times the speed of their baseline. What do
            XLA's fusion decisions make of such a step on a CPU, and does gpubound name the cause?"""),
        prose(finding(figures)),
        prose(changes_text(figures)),
        prose(cause_text(figures)),
        prose(answer(figures)),
        prose(parts.truth_text(figures)),
        f"![Env steps per second by variant, and time by kernels, on a CPU]({NAME}.svg)",
        "## What XLA makes of a step (CPU)",
        table(["variant", "kernels", "fused", "across scopes", "copies", "flops", "bytes", "sines and cosines"],
              compiled_rows(figures)),
        prose(f"{COMPILED} The table has {int(largest(figures)):,} environments."),
        "## How fast it is (CPU)",
        table(["variant", "environments", "env steps per second", "a step of all", "in calls", "Python, simulator",
               "Python, around", "calls a step"], speed_rows(figures)),
        prose(SPEED),
        "## Is the faster variant the one with fewer kernels? (CPU)",
        table(["fewer", *(f"{int(size):,} environments" for size in figures["sizes"])], order_rows(figures)),
        prose(ORDER),
        "## Does gpubound name the cause? (CPU)",
        table(["change", "environments", "speed", "time of a step", "in calls", "calls a step", "gpubound names"],
              change_rows(figures)),
        prose(CHANGED),
        prose(named_text(figures)),
        "## What the paper did, and what is repeated",
        prose(paper_text()),
        "## How it was run",
        prose(method_text(figures)),
        prose(study.where_measured(figures)),
    ])


def draw(figures: Figures, axes: Any) -> None:
    colours = dict(zip(figures["sizes"], ("#9ecae1", "#08519c")))
    grid = axes.figure.add_gridspec(1, 2)
    axes.set_subplotspec(grid[0])
    right = axes.figure.add_subplot(grid[1])
    for size, names in figures["sizes"].items():
        made = [interval(throughput(figures, name)) for name in names]
        axes.errorbar([mean for mean, _, _ in made], range(len(names)), linestyle="", marker="o", markersize=4,
                      xerr=[[mean - low for mean, low, _ in made], [high - mean for mean, _, high in made]],
                      color=colours[size])
        scans = [name for name in names if not name.startswith("call:")]
        right.scatter([figures["compiled"][name]["kernels"] for name in scans],
                      [sum(split(figures, name).values()) / 1000 for name in scans], s=14, color=colours[size],
                      label=f"{int(size):,} environments")
    axes.set_yticks(range(len(VARIANTS)), list(VARIANTS.values()))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("env steps per second, CPU")
    right.legend(frameon=False, fontsize="x-small", loc="center")
    right.set_xscale("log")
    right.set_xlim(1, 100)
    right.set_yscale("log")
    right.set_xlabel("kernels a step, of a scan")
    right.set_ylabel("us a step of all, CPU")
    right.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
