#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the framework decide how long an iteration takes, and by what? RL-Scope's question, asked of one algorithm (TD3)
on one simulator (MuJoCo's walker) in two libraries and in one file in five ways, on one thread of a CPU.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/framework_choice.py
"""
import collections
import importlib.util
import json
import pathlib
import shutil
import statistics
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

import study
from study import Figures, interval, number, prose, ratio_interval, table, with_interval

NAME = "framework_choice"
SEEDS, SMALL_SEEDS = 3, 1
# Of a run, the share in which threads that could run had no core, from which on it is recorded again; so often at most.
CROWDED, RETRIES, SMALL_RETRIES = 0.25, 4, 0
ITERATIONS, SMALL_ITERATIONS = 100, 10  # of which the actor learns in every second one
# Hidden layers of the actor and of both critics. The wide ones are those of the paper that introduced TD3.
NETWORKS = {"narrow": "64,64", "wide": "400,300"}
SMALL_NETWORKS = {"narrow": "64,64"}
VARIANTS = {"stable-baselines3": "stable-baselines3 (PyTorch eager)", "torch": "one file, PyTorch eager",
            "torch.compile": "one file, torch.compile", "sbx": "SBX (JAX, jitted)", "jax": "one file, JAX (jitted)",
            "tensorflow": "one file, TensorFlow eager", "tf.function": "one file, tf.function"}
LIBRARIES = ("stable-baselines3", "sbx")
# What each variant needs beside the simulator. One whose package is not installed is left out, and the page says so.
NEEDS = {"stable-baselines3": "stable_baselines3", "torch": "torch", "torch.compile": "torch", "sbx": "sbx",
         "jax": "optax", "tensorflow": "tensorflow", "tf.function": "tensorflow"}
PARTS = {"simulation": ("simulation",), "inference": ("inference",),
         "update": ("update", "sample", "target", "forward", "backpropagation", "optimizer", "update_critic",
                    "update_actor")}
OTHER = "other"
LAYERS = {"python": "Python", "backend": "in calls", "simulator": "simulator", "wait": "waits"}
# Changes of one thing: from, to.
CHANGES = (("stable-baselines3", "torch"), ("torch", "torch.compile"), ("torch", "jax"), ("sbx", "jax"),
           ("torch", "tensorflow"), ("tensorflow", "tf.function"))
VARIABLES = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2",
             "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
# RL-Scope's abstract: PyTorch against TensorFlow; and its figure 4 (a), TD3 on Walker2D with a GPU, in thousands of
# seconds of a training, as read off the bars.
REPORTED = 2.3
REPORTED_BARS = {"torch": 24, "tensorflow": 57, "tf.function": 12.5}


# --- Recording ---

def missing() -> Dict[str, str]:
    """Variants that cannot run here, and what they lack."""
    made = {variant: needed for variant, needed in NEEDS.items() if not importlib.util.find_spec(needed)}
    if not shutil.which("g++"):
        made.setdefault("torch.compile", "g++")
    return made


def run_name(variant: str, seed: int) -> str:
    return f"{variant}-{seed}"


def record(recorder: study.Recorder, small: bool) -> None:
    import gpubound

    networks = [f"{name}={widths}" for name, widths in (SMALL_NETWORKS if small else NETWORKS).items()]
    iterations = str(SMALL_ITERATIONS if small else ITERATIONS)
    # What it compiled once, torch.compile takes from there for the next seed.
    variables = {**VARIABLES, "TORCHINDUCTOR_CACHE_DIR": str(recorder.folder / "inductor")}
    wanted = {run_name(variant, seed): study.Program(
        [sys.executable, str(study.PROGRAMS / "walker_td3.py"), str(clocks_of(recorder, variant, seed)), variant,
         str(seed), iterations, *networks], variables)
        for variant in VARIANTS if variant not in missing()
        for seed in range(1, (SMALL_SEEDS if small else SEEDS) + 1)}
    recorder.record_all(wanted, calibrates=False)
    for _ in range(SMALL_RETRIES if small else RETRIES):
        for path in map(recorder.path, wanted):
            if ready_share(training(gpubound.open(path))) > CROWDED:
                shutil.rmtree(path)
        recorder.record_all(wanted, calibrates=False)


def clocks_of(recorder: study.Recorder, variant: str, seed: int) -> pathlib.Path:
    return recorder.folder / f"{run_name(variant, seed)}.clocks.json"


# --- Reading ---

def read(recorder: study.Recorder, small: bool) -> Figures:
    runs: Dict[str, List[Any]] = {}
    for variant in VARIANTS:
        for seed in range(1, (SMALL_SEEDS if small else SEEDS) + 1) if variant not in missing() else ():
            for network, figures in read_run(recorder, variant, seed).items():
                runs.setdefault(f"{variant} {network}", []).append(figures)
    return {"networks": SMALL_NETWORKS if small else NETWORKS, "iterations": SMALL_ITERATIONS if small else ITERATIONS,
            "left_out": missing(), "runs": runs}


def read_run(recorder: study.Recorder, variant: str, seed: int) -> Dict[str, Any]:
    """By network."""
    import gpubound

    run = gpubound.open(recorder.path(run_name(variant, seed)))
    process = training(run)
    common = {"seed": seed, "verdict": run.data_quality.verdict, "without_core": study.without_core(process),
              "ready_share": ready_share(process)}
    begins = run.table("phase", ["name", "time_ns", "process"]).values()
    made = {}
    for network, own in json.loads(clocks_of(recorder, variant, seed).read_text()).items():
        at = begins["name"].index(network)
        begin_ns, end_ns = begins["time_ns"][at:at + 2]
        cells: Dict[str, Dict[str, int]] = {}
        for cell in process["cells"]:
            if cell["phase"] == network:
                layers = cells.setdefault(cell["operation"], collections.Counter())
                layers[cell["layer"]] += cell["ns"]
        iterations = run.table("iteration", ["begin_ns", "end_ns"]).values()
        whole = sum(begin_ns <= begin and end <= end_ns for begin, end in zip(*iterations.values()))
        made[network] = {
            "iterations": len(own["iteration_ns"]), "iterations_found": whole,
            "total_ns": sum(sum(layers.values()) for layers in cells.values()), "cells": cells,
            "calls": calls_within(run, begins["process"][at], begin_ns, end_ns),
            "own": {"total_ns": sum(own["iteration_ns"]), **{part: own[f"{part}_ns"] for part in PARTS}},
            "prepare_ns": own["prepare_ns"], "losses": own["losses"], **common}
    return made


def training(run: Any) -> Any:
    """The process of the report that trains: what torch.compile starts has no phase."""
    return next(process for process in run.report(replay=False)["processes"]
                if any(cell["phase"] in NETWORKS for cell in process["cells"]))


def ready_share(process: Any) -> float:
    """Of the time in which its threads could run, that in which they had no core; 0 where the kernel does not say."""
    ready_ns = process["threads_cpu"]["ready_ns"] or 0
    return float(ready_ns / max(1, ready_ns + process["threads_cpu"]["on_cpu_ns"]))


def calls_within(run: Any, process: int, begin_ns: int, end_ns: int) -> Dict[str, int]:
    """Calls of the framework from outside of it, by the innermost operation. What a compiled graph calls in turn is
    a part of its call."""
    scopes = run.sql("SELECT begin_ns, end_ns, kind, name FROM scope WHERE "
                     f"begin_ns BETWEEN {begin_ns} AND {end_ns} AND process = {process} AND "
                     "(kind = 'operation' OR layer = 'backend') ORDER BY begin_ns, end_ns DESC").values()
    calls: Dict[str, int] = collections.Counter()
    opened: List[Tuple[int, str, str]] = []
    for begin, end, kind, name in zip(*(scopes[key] for key in ("begin_ns", "end_ns", "kind", "name"))):
        while opened and opened[-1][0] <= begin:
            opened.pop()
        if kind == "layer" and all(other != "layer" for _, other, _ in opened):
            calls[next((other for _, of, other in reversed(opened) if of == "operation"), "(no operation)")] += 1
        opened.append((end, kind, name))
    return dict(calls)


# --- Figures of a run ---

def part_of(operation: str) -> str:
    return next((part for part, names in PARTS.items() if operation in names), OTHER)


def ns_of(run: Any, part: Optional[str] = None, layer: Optional[str] = None) -> int:
    """Of all iterations, in all or of a part and a layer."""
    return sum(ns for operation, layers in run["cells"].items() if part in (None, part_of(operation))
               for name, ns in layers.items() if layer in (None, name))


def ms(run: Any, part: Optional[str] = None, layer: Optional[str] = None) -> float:
    """Of an iteration, less the share of the run in which threads that could run had no core."""
    made: float = ns_of(run, part, layer) * (1 - run["ready_share"]) / run["iterations"] / 1e6
    return made


def calls_of(run: Any, part: Optional[str] = None) -> float:
    """For an iteration."""
    count: float = sum(count for operation, count in run["calls"].items() if part in (None, part_of(operation)))
    return count / run["iterations"]


def largest(runs: Sequence[Any]) -> Tuple[str, str, float]:
    """Operation and layer that take most of the time, and their share, as a mean over runs."""
    shares: Dict[Tuple[str, str], float] = collections.Counter()
    for run in runs:
        for operation, layers in run["cells"].items():
            for layer, ns in layers.items():
                shares[operation, layer] += ns / run["total_ns"] / len(runs)
    (operation, layer), share = max(shares.items(), key=lambda item: item[1])
    return operation, layer, share


def mean(runs: Sequence[Any], value: Any) -> float:
    return statistics.fmean(value(run) for run in runs)


def of_network(figures: Figures, network: str) -> Dict[str, List[Any]]:
    """Runs by variant."""
    return {variant: figures["runs"][f"{variant} {network}"] for variant in VARIANTS
            if f"{variant} {network}" in figures["runs"]}


def changes(figures: Figures, network: str) -> List[Dict[str, Any]]:
    """What each change does to an iteration, and in which layer."""
    runs = of_network(figures, network)
    made = []
    for before, after in CHANGES:
        if before in runs and after in runs:
            by_layer = {layer: mean(runs[after], lambda run, of=layer: ms(run, layer=of)) -
                        mean(runs[before], lambda run, of=layer: ms(run, layer=of)) for layer in LAYERS}
            made.append({"before": before, "after": after, "layers": by_layer,
                         "ratio": ratio_interval([ms(run) for run in runs[after]], [ms(run) for run in runs[before]]),
                         "calls": [mean(runs[before], calls_of), mean(runs[after], calls_of)]})
    return made


def is_sure(change: Dict[str, Any]) -> bool:
    """Whether the interval of the ratio leaves no doubt which of the two is shorter."""
    _, low, high = change["ratio"]
    return bool(low > 1 or high < 1)


# --- The page ---

def length(values: Sequence[float], unit: str = "") -> str:
    return with_interval(interval(values), unit) if max(values) > 0 else "0"


def named(variant: str) -> str:
    return VARIANTS[variant].replace("one file, ", "")


def finding(figures: Figures) -> str:
    texts = []
    for network in figures["networks"]:
        runs = of_network(figures, network)
        lengths = {variant: mean(of, ms) for variant, of in runs.items()}
        least, most = min(lengths, key=lambda name: lengths[name]), max(lengths, key=lambda name: lengths[name])
        texts.append(f"""With the {network} networks the longest iteration ({VARIANTS[most]},
            {number(lengths[most])} ms) takes {number(lengths[most] / lengths[least])} times as long as the shortest
            ({VARIANTS[least]}, {number(lengths[least])} ms).""")
        if "torch" in runs and "tensorflow" in runs:
            ratio = ratio_interval([ms(run) for run in runs["tensorflow"]], [ms(run) for run in runs["torch"]])
            texts.append(f"TensorFlow eager takes {with_interval(ratio)} times as long as PyTorch eager.")
    return " ".join(texts)


def reason(figures: Figures) -> str:
    made = [change for network in figures["networks"] for change in changes(figures, network)]
    sure = [change for change in made if is_sure(change)]
    with_calls = [change for change in sure if (change["ratio"][0] > 1) == (change["calls"][1] > change["calls"][0])]
    leading = collections.Counter(max(change["layers"], key=lambda layer, of=change["layers"]: (
        of[layer] if change["ratio"][0] > 1 else -of[layer])) for change in sure)
    by_layer = ", ".join(f"{LAYERS[layer]} ({count})" for layer, count in leading.most_common())
    text = f"""A table below has {len(made)} changes: another framework, a library or none, a compiler or none. In
        {len(sure)} of them it is sure which iteration is shorter. """
    if sure:
        text += f"""In {len(with_calls)} of these {len(sure)} it is the one with fewer calls into the framework. Most of
            the difference lies in the layer {by_layer}. """
    return " ".join((text + figures_of_calls(figures)).split())


def figures_of_calls(figures: Figures) -> str:
    runs = of_network(figures, next(iter(figures["networks"])))
    counts = {variant: mean(of, calls_of) for variant, of in runs.items()}
    return ("Calls for an iteration: " +
            ", ".join(f"{named(variant)} {number(count)}" for variant, count in
                      sorted(counts.items(), key=lambda item: -item[1])) + ".")


def against_paper(figures: Figures) -> str:
    text = f"""RL-Scope's abstract says {REPORTED} times between PyTorch and TensorFlow. The bars of its figure 4 (a),
        TD3 on Walker2D with a GPU, are at about {REPORTED_BARS["torch"]} thousand seconds (PyTorch eager),
        {REPORTED_BARS["tensorflow"]} (TensorFlow eager) and {REPORTED_BARS["tf.function"]} (autograph), as read off the
        picture. Its caption names transitions into the backend as the reason. """
    paper = (("torch", "tensorflow"), ("torch", "tf.function"), ("tensorflow", "tf.function"))
    said = []
    for network in figures["networks"]:
        runs = of_network(figures, network)
        pairs = [(before, after) for before, after in paper if before in runs and after in runs]
        agree = []
        for before, after in pairs:
            _, low, high = ratio_interval([ms(run) for run in runs[after]], [ms(run) for run in runs[before]])
            agree.append(low > 1 if REPORTED_BARS[after] > REPORTED_BARS[before] else high < 1)
        if pairs:
            said.append(f"{sum(agree)} of {len(pairs)} with the {network} networks")
    return text + (f"The order of two of these three is surely the same here for {', '.join(said)}." if said else "")


def page(figures: Figures) -> str:
    networks = figures["networks"]
    pairs = {(network, variant): runs for network in networks for variant, runs in of_network(figures, network).items()}
    left_out = figures["left_out"]
    seeds = {len(runs) for runs in figures["runs"].values()}
    lost = [run["ready_share"] for runs in figures["runs"].values() for run in runs]
    lengths, layers, clocks = [], [], []
    for (network, variant), runs in pairs.items():
        head = [VARIANTS[variant], network]
        operation, layer, share = largest(runs)
        lengths.append([*head, length([ms(run) for run in runs]),
                        *(length([ms(run, part) for run in runs]) for part in (*PARTS, OTHER)),
                        f"{operation}, {LAYERS.get(layer, layer)}, {study.whole_percent(share)}"])
        backend_us = [1e3 * ms(run, layer="backend") / max(calls_of(run), 1e-9) for run in runs]
        layers.append([*head, number(mean(runs, calls_of)),
                       *(number(mean(runs, lambda run, of=part: calls_of(run, of)))
                         for part in ("inference", "update")),
                       *(length([ms(run, layer=of) for run in runs]) for of in LAYERS), length(backend_us, " us")])
        clocks.append([*head, *(number(mean(runs, lambda run, of=part: against_own(run, of)), 3)
                                for part in (None, *PARTS)),
                       f"{sum(run['iterations_found'] for run in runs)} of {sum(run['iterations'] for run in runs)}",
                       f"{number(min(run['prepare_ns'] for run in runs) / 1e9)} to "
                       f"{number(max(run['prepare_ns'] for run in runs) / 1e9)} s"])
    brought = [[f"{named(change['before'])} to {named(change['after'])}", network, with_interval(change["ratio"]),
                f"{number(change['calls'][0])} to {number(change['calls'][1])}",
                *(f"{of:+.2f} ms" for of in change["layers"].values())]
               for network in networks for change in changes(figures, network)]
    same = [variant for variant in of_network(figures, next(iter(networks))) if variant not in LIBRARIES]
    return study.assembled(NAME, [
        "# The choice of a framework",
        prose("""RL-Scope (MLSys 2021, arXiv 2102.04285) compared one algorithm in several frameworks on a GPU, and
            explained the differences by transitions between Python and the framework's backend. This page asks it again
            on a **CPU**, where no kernel is launched and calls do the arithmetic themselves."""),
        *([prose("**Left out**, for want of what they need: " +
                 ", ".join(f"{VARIANTS[variant]} ({needed})" for variant, needed in left_out.items()) + ".")]
          if left_out else []),
        prose(finding(figures)),
        prose(reason(figures)),
        prose(against_paper(figures)),
        f"![Calls and time of an iteration, on a CPU]({NAME}.svg)",
        "## How long an iteration takes (CPU)",
        table(["variant", "networks", "iteration, ms", *PARTS, OTHER, "largest"], lengths),
        prose(f"""An iteration is a step of the environment and one of gradients; the actor learns in every second one.
            Each figure is the mean of {min(seeds)} runs, in ms, with its 95 % interval by Student's distribution, and
            includes what recording costs. Other programs ran on the machine. So lengths are gpubound's time less the
            share of the run in which threads that could run had no core (`threads_cpu` of the report),
            {study.whole_percent(min(lost))} to {study.whole_percent(max(lost))}. Above
            {study.whole_percent(CROWDED)} a run was recorded again, {RETRIES} times at most. Parts are gpubound's
            operations, which its hooks name. *update* is all of learning. *other* is what lies between the parts
            (`rollout`): noise, storing a transition, and of JAX the wait for the chosen action, of which
            `numpy.asarray` gives no sign on a
            CPU (`jax.device_get` would). *largest* is the largest cell of the report (operation and layer)."""),
        "## Calls and layers (CPU)",
        table(["variant", "networks", "calls", "of inference", "of update", *LAYERS.values(), "a call"], layers),
        prose("""*calls* are those from Python into the framework for an iteration (layer `backend`), *in calls* is the
            time in them, and *a call* that of one. What a compiled graph calls in turn is a part of its call. Times are
            ms for an iteration. Where JAX computes on a thread of its own, its time is in calls or waits."""),
        "## What a change brings (CPU)",
        table(["change", "networks", "time, times", "calls", *LAYERS.values()], brought),
        prose("""*time* is the ratio of both iterations, with its interval by Welch's; the last columns say in which
            layer an iteration became longer (+) or shorter."""),
        "## Against the program's own clocks (CPU)",
        table(["variant", "networks", "iteration", *PARTS, "whole iterations found", "before the first one"], clocks),
        prose("""gpubound's time divided by that of clocks in the program, which lie around the operations and so have
            what recording them costs. The clock of *simulation* leaves resets out, and in libraries what they put
            around an environment. The part of *inference* that is missed of JAX is the wait that *other* has, of
            tf.function the input that is made before the call. The phase that is counted begins within an iteration,
            so one less is whole. *before the first one* is what the program needs to make, compile and try everything;
            torch.compile takes from its cache what it compiled before."""),
        "## How it was run",
        prose(f"""`walker_td3.py` trains TD3 on `Walker2d-v5` of MuJoCo, with batches of 100, Adam and a replay buffer
            in NumPy. Hidden layers have {' or '.join(f'{widths} units ({name})' for name, widths in networks.items())}.
            A run is a process with one seed; of each network {figures['iterations']} iterations are counted, after 200
            steps by chance and some updates, in which everything compiles. Each framework has one thread. Every update
            returns the critics' loss as a number, as stable-baselines3 and SBX do, so that it waits for its result. In
            one file only `act` and `update` differ; the numbers by chance are the same. Losses of the first updates
            {agreement(figures, same)}. SBX averages its target networks in each iteration, the others in every second
            one. torch.compile compiles both functions of the update and not `act`; tf.function and JAX have all
            three."""),
        prose(study.where_measured(figures)),
    ])


def against_own(run: Any, part: Optional[str]) -> float:
    own: float = run["own"]["total_ns" if part is None else part]
    return ns_of(run, part) / own


def apart(figures: Figures, variants: Sequence[str]) -> float:
    """By how much the losses of the variants of one file differ at most, of the same seed and networks."""
    made = 0.0
    for network in figures["networks"]:
        by_seed: Dict[int, List[List[float]]] = {}
        for variant in variants:
            for run in figures["runs"][f"{variant} {network}"]:
                by_seed.setdefault(run["seed"], []).append(run["losses"])
        for losses in by_seed.values():
            made = max([made, *(max(of) / min(of) - 1 for of in zip(*losses))])
    return made


def agreement(figures: Figures, variants: Sequence[str]) -> str:
    return f"differ by {number(1e6 * apart(figures, variants))} millionths at most"


def draw(figures: Figures, axes: Any) -> None:
    colours = {"narrow": "#08519c", "wide": "#a63603"}
    for network in figures["networks"]:
        for variant, runs in of_network(figures, network).items():
            length, low, high = interval([ms(run) for run in runs])
            errors = [[length - low], [high - length]] if low == low else None
            axes.errorbar(mean(runs, calls_of), length, yerr=errors, fmt="s" if variant in LIBRARIES else "o",
                          capsize=3, color=colours[network])
            if network == next(iter(figures["networks"])):
                left = variant not in LIBRARIES and mean(runs, calls_of) > 100
                axes.annotate(named(variant).partition(" (")[0], (mean(runs, calls_of), length), xytext=(
                    -5 if left else 5, -9), textcoords="offset points", ha="right" if left else "left",
                    fontsize="x-small")
        axes.plot([], [], "o", color=colours[network], label=f"{network} networks")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.15)
    axes.set_xlabel("calls into the framework for an iteration")
    axes.set_ylabel("an iteration on a CPU (ms)")
    axes.legend(frameon=False, fontsize="small", loc="upper left")


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
