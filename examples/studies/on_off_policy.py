#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is on-policy learning more simulation-bound than off-policy learning? RL-Scope's question, asked of
stable-baselines3's five algorithms, each at its own settings, on one simulator.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/on_off_policy.py
"""
import statistics
import sys
from typing import Any, Dict, List

import study
from study import Figures, interval, percent, prose, ratio_interval, table, with_interval

NAME = "on_off_policy"
# Environment steps of a training: some updates of each, in seconds.
ALGORITHMS = {"PPO": 4096, "A2C": 800, "DQN": 1000, "SAC": 250, "TD3": 300}
SMALL = {"PPO": 2048, "A2C": 50, "DQN": 120, "SAC": 110, "TD3": 110}
ON_POLICY = ("PPO", "A2C")
# What operations are to an algorithm. All of update is what learning takes, its own Python included.
PARTS = {"simulation": ("simulation",), "inference": ("inference",),
         "update": ("update", "sample", "target", "forward", "backpropagation", "optimizer")}
OTHER = "other"
SEEDS = 3
# RL-Scope's abstract: on-policy algorithms are at least so many times more simulation-bound than off-policy ones.
REPORTED = 3.5


def record(recorder: study.Recorder, small: bool) -> None:
    steps = SMALL if small else ALGORITHMS
    words = [f"{algorithm}={count}" for algorithm, count in steps.items()]
    recorder.record_all({"five": study.Program(
        [sys.executable, str(study.PROGRAMS / "walker_stable_baselines3.py"), str(1 if small else SEEDS), *words])},
        calibrates=False)


def part_of(operation: str) -> str:
    return next((part for part, names in PARTS.items() if operation in names), OTHER)


def read(recorder: study.Recorder, small: bool) -> Figures:
    import gpubound

    run = gpubound.open(recorder.path("five"))
    process = run.report(replay=False)["processes"][0]
    runs: Dict[str, List[Any]] = {algorithm: [] for algorithm in ALGORITHMS}
    for phase in sorted({cell["phase"] for cell in process["cells"]}):
        algorithm, _, seed = phase.partition(" ")
        if algorithm not in runs:
            continue  # before, between and after trainings
        operations: Dict[str, int] = {}
        parts: Dict[str, int] = dict.fromkeys([*PARTS, OTHER], 0)
        for cell in process["cells"]:
            if cell["phase"] == phase:
                operations[cell["operation"]] = operations.get(cell["operation"], 0) + cell["ns"]
                parts[part_of(cell["operation"])] += cell["ns"]
        runs[algorithm].append({"seed": int(seed), "total_ns": sum(operations.values()), "operations": operations,
                                "parts": parts, "without_core": study.without_core(process),
                                "verdict": run.data_quality.verdict})
    return {"steps": SMALL if small else ALGORITHMS, "runs": runs}


def shares(figures: Figures, part: str) -> Dict[str, List[float]]:
    return {algorithm: [run["parts"][part] / run["total_ns"] for run in runs]
            for algorithm, runs in figures["runs"].items()}


def sides(figures: Figures, part: str) -> Dict[bool, List[float]]:
    """Shares of all trainings, of those of on-policy algorithms (True) and of the others."""
    made: Dict[bool, List[float]] = {True: [], False: []}
    for algorithm, values in shares(figures, part).items():
        made[algorithm in ON_POLICY] += values
    return made


def pairs(figures: Figures) -> Dict[str, float]:
    """The factor of each on-policy algorithm over each off-policy one."""
    means = {algorithm: statistics.fmean(values) for algorithm, values in shares(figures, "simulation").items()}
    return {f"{on} over {off}": means[on] / means[off] for on in ON_POLICY for off in means if off not in ON_POLICY}


def finding(figures: Figures) -> str:
    by_side = sides(figures, "simulation")
    ratio = ratio_interval(by_side[True], by_side[False])
    factors = pairs(figures)
    least, most = min(factors, key=lambda name: factors[name]), max(factors, key=lambda name: factors[name])
    means = {algorithm: statistics.fmean(values) for algorithm, values in shares(figures, "simulation").items()}
    bound = [algorithm for algorithm, share in means.items() if share > 0.5]
    text = (f"On-policy algorithms spend {with_interval(ratio)} times the share of their time in the simulator that "
            f"off-policy ones do, over all trainings. Pair by pair the factor goes from {study.number(factors[least])} "
            f"({least}) to {study.number(factors[most])} ({most}). ")
    missed = [name for name, factor in factors.items() if factor < REPORTED]
    text += (f"RL-Scope reported at least {REPORTED}: that holds here for {len(factors) - len(missed)} of "
             f"{len(factors)} pairs{', not for ' if missed else ''}{' and '.join(missed)}. ")
    text += (f"Simulation is more than half of the time of {', '.join(bound)}." if bound else
             "Simulation is more than half of the time of none of the five.")
    return text


def reason(figures: Figures) -> str:
    inference, update = sides(figures, "inference"), sides(figures, "update")
    steps = [statistics.fmean(run["parts"]["simulation"] for run in runs) / figures["steps"][algorithm] / 1e6
             for algorithm, runs in figures["runs"].items()]
    return (f"What differs is how much is learned for a step. Learning takes {percent(interval(update[True]))} of the "
            f"time of on-policy trainings and {percent(interval(update[False]))} of that of off-policy ones; choosing "
            f"actions {percent(interval(inference[True]))} and {percent(interval(inference[False]))}. A step of the "
            f"simulator takes {study.number(min(steps))} to {study.number(max(steps))} ms, whoever asks for it. DQN "
            "learns after every fourth step, SAC and TD3 after each.")


def page(figures: Figures) -> str:
    algorithms = figures["runs"]
    rows = []
    for algorithm, runs in algorithms.items():
        kind = "on" if algorithm in ON_POLICY else "off"
        of_parts = [percent(interval([run["parts"][part] / run["total_ns"] for run in runs]))
                    for part in (*PARTS, OTHER)]
        step = [run["total_ns"] / figures["steps"][algorithm] for run in runs]
        rows.append([f"{algorithm} ({kind}-policy)", *of_parts, with_interval(interval(step), " ms", 1e-6)])
    kinds = [[algorithm, ", ".join(f"{operation} {study.whole_percent(share)}" for operation, share in largest(runs))]
             for algorithm, runs in algorithms.items()]
    counts = {len(runs) for runs in algorithms.values()}
    return study.assembled(NAME, [
        "# On-policy against off-policy",
        prose("RL-Scope (MLSys 2021, arXiv 2102.04285) reported that on-policy algorithms are at least "
              f"{REPORTED} times more simulation-bound than off-policy ones. Does stable-baselines3 show it, on a "
              "CPU?"),
        prose(finding(figures)),
        prose(reason(figures)),
        f"![Shares of the time]({NAME}.svg)",
        "## Where the time goes",
        table(["algorithm", *PARTS, OTHER, "for an environment step"], rows),
        prose(f"Each figure is the mean of {min(counts)} trainings with seeds of their own, and its 95 % interval by "
              "Student's distribution. Shares are of all the time of `learn()`, by the cells of `gpubound report` "
              "(phase, operation). *update* is all of learning: replay, targets, forward and backward pass, optimizer. "
              "*other* is the framework's own Python between them."),
        "## The largest operations",
        table(["algorithm", "of its time, mean of the trainings"], kinds),
        "## How it was run",
        prose("Algorithms are at stable-baselines3's own settings, but for a replay buffer of 100,000 transitions. "
              "The environment is `Walker2d-v5` of MuJoCo, one copy. DQN takes discrete actions only; it pushes one "
              "joint at a time there, by a wrapper that is part of `simulation`. PyTorch has one thread. Steps of a "
              f"training: {', '.join(f'{name} {steps:,}' for name, steps in figures['steps'].items())}. All trainings "
              "are in one process, in an order drawn by chance; a phase names each, and gpubound's hooks name the "
              "operations. Off-policy algorithms play their first 100 steps by chance, without learning: that is part "
              "of their time. No GPU is used."),
        prose(study.where_measured(figures)),
    ])


def largest(runs: List[Any]) -> List[Any]:
    names = {operation for run in runs for operation in run["operations"]}
    means = {name: statistics.fmean(run["operations"].get(name, 0) / run["total_ns"] for run in runs)
             for name in names}
    return sorted(means.items(), key=lambda row: (-row[1], row[0]))[:5]


def draw(figures: Figures, axes: Any) -> None:
    colours = {"simulation": "#238b45", "inference": "#9ecae1", "update": "#08519c", OTHER: "#d9d9d9"}
    names = list(figures["runs"])
    left = [0.0] * len(names)
    for part in (*PARTS, OTHER):
        made = [interval(values) for values in shares(figures, part).values()]
        widths = [100 * mean for mean, _, _ in made]
        errors = [100 * (high - mean) if high == high else 0 for mean, _, high in made]
        axes.barh(names, widths, left=left, color=colours[part], label=part,
                  xerr=errors if part == "simulation" else None, error_kw={"ecolor": "#333333", "capsize": 3})
        left = [begin + width for begin, width in zip(left, widths)]
    axes.invert_yaxis()
    axes.set_xlabel("share of the time (%)")
    axes.legend(frameon=False, fontsize="small", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
