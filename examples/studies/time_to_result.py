#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many seeds does "variant B is faster" need? The bundled CartPole PPO and two variants of it, on the simulated
device, each to a mean return of 450: time to the result by cause, comparisons with intervals over more and more
seeds, and comparisons of the program with itself, which must find nothing.

    pip install . -r examples/studies/requirements.txt
    python examples/studies/time_to_result.py
"""
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import random
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

import study
from study import Figures, interval, number, percent, prose, ratio_interval, table, with_interval

NAME = "time_to_result"
RETURN, SMALL_RETURN = 450, 40
VARIANTS = {"A": 32, "B": 16, "C": 64}  # environments that are stepped together
FIRST = "A"
SEEDS, SMALL_SEEDS = 10, 3
# Further seeds of the first variant, for comparisons of it with itself.
FURTHER, SMALL_FURTHER = 6, 1
DRAWS, SMALL_DRAWS = 12, 2  # groups of each size that are drawn
PAIRS, SMALL_PAIRS = 100, 2
SIZES, SMALL_SIZES = (3, 8), (2,)
SELF_SIZES, SMALL_SELF_SIZES = (1, 3), (1, 2)
SOUND = 0.95
CAUSES = 4  # of idle time that are shown


def target_of(small: bool) -> str:
    # The program records the mean of its last 100 episodes, so one record is enough.
    return f"mean_return>={SMALL_RETURN if small else RETURN} over 1"


def record(recorder: study.Recorder, small: bool) -> None:
    program, variables = study.simulated_cartpole()
    wanted = {}
    for variant, environments in VARIANTS.items():
        seeds = SMALL_SEEDS if small else SEEDS
        if variant == FIRST:
            seeds += SMALL_FURTHER if small else FURTHER
        for seed in range(1, seeds + 1):
            wanted[f"{variant}-{seed:02}"] = study.Program(
                [program, "--quiet", "--envs", str(environments), "--seed", str(seed), "--target-return",
                 str(SMALL_RETURN if small else RETURN)], variables)
    recorder.record_all(wanted, calibrates=not small)


def read(recorder: study.Recorder, small: bool) -> Figures:
    target = target_of(small)
    paths: Dict[str, List[str]] = {variant: [] for variant in VARIANTS}
    for name in recorder.names():
        paths[name.split("-")[0]].append(str(recorder.path(name)))
    seeds = SMALL_SEEDS if small else SEEDS
    first = {variant: of[:seeds] for variant, of in paths.items()}
    # Two at a time: each comparison reads its runs anew.
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        runs = {variant: list(pool.map(read_run, of, [target] * len(of))) for variant, of in first.items()}
        whole = claims_of(first, target)
        growing = {size: list(pool.map(claims_of, *drawn_groups(first, size, SMALL_DRAWS if small else DRAWS, target)))
                   for size in (SMALL_SIZES if small else SIZES)}
        same = {size: list(pool.map(claims_of, *drawn_pairs(paths[FIRST], size, SMALL_PAIRS if small else PAIRS,
                                                            target)))
                for size in (SMALL_SELF_SIZES if small else SELF_SIZES)}
    return {"target": target, "environments": VARIANTS, "runs": runs, "whole": whole, "growing": growing,
            "same": same, "same_runs": len(paths[FIRST])}


def read_run(path: str, target: str) -> Dict[str, Any]:
    """What is asked of a run. Kept beside it, as an interrupted study goes on."""
    place = pathlib.Path(path).with_suffix(".json")
    if not place.exists():
        place.write_text(json.dumps(figures_of_run(path, target)))
    made: Dict[str, Any] = json.loads(place.read_text())
    return made


def figures_of_run(path: str, target: str) -> Dict[str, Any]:
    import gpubound

    run = gpubound.open(path)
    report = run.report(targets=[target])
    process = report["processes"][0]
    found = report["run"]["training"]["targets"][0]
    idle: Dict[str, int] = collections.Counter()
    for row in process["operations"]:
        for cause, idle_ns in row["device_idle"].items():
            idle[cause] += idle_ns
    steps = next(row for row in process["throughput"] if row["counter"] == "env_steps")
    return {"verdict": run.data_quality.verdict, "without_core": study.without_core(process),
            "device_kind": report["device_kind"], "idle": idle,
            "gpu_busy_share": report["run"]["gpu_busy_share"], "env_steps": steps["total"],
            "env_steps_per_second": steps["per_second"], "iterations": process["iterations"]["count"] + 1,
            **{key: found[key] for key in ("reached_ns", "corrected_ns", "corrected_ns_low", "corrected_ns_high",
                                           "parts", "parts_ns")}}


def claims_of(groups: Dict[str, List[str]], target: str) -> Dict[str, Any]:
    """What `gpubound compare --target` says of the groups after the first. Kept beside the runs."""
    first = pathlib.Path(next(iter(groups.values()))[0])
    key = json.dumps([target, {name: [pathlib.Path(path).name for path in of] for name, of in groups.items()}])
    place = first.parent / "compared" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(compared_claims(groups, target)))
    made: Dict[str, Any] = json.loads(place.read_text())
    return made


def compared_claims(groups: Dict[str, List[str]], target: str) -> Dict[str, Any]:
    import gpubound
    from gpubound import runs

    compared = runs.compare({name: [gpubound.open(path) for path in of] for name, of in groups.items()},
                            targets=[target])
    made = {}
    for place, name in enumerate(groups):
        if place == 0:
            continue
        speed = compared["groups"][place]["speed"]
        rows = {row["figure"]: row["groups"][place] for row in compared["figures"]}
        first = next(row["groups"][0] for row in compared["figures"] if row["figure"] == "time_to_target")
        to_target = rows["time_to_target"]
        all_rows = [row["groups"][place] for row in compared["figures"]]
        made[name] = {
            "speed": {key: speed[key] for key in ("ratio", "low", "high", "significant", "finding")},
            "time_to_target": {"first": first["value"], **{key: to_target[key] for key in (
                "value", "difference", "low", "high", "significant")}},
            "rows": sum(row["low"] is not None for row in all_rows),
            "rows_marked": sum(row["significant"] for row in all_rows)}
    return made


def drawn_groups(of: Dict[str, List[str]], size: int, draws: int, target: str) -> Tuple[List[Any], List[str]]:
    """So many times as many seeds of each variant, drawn by chance without putting back."""
    chance = random.Random(size)
    return [{variant: chance.sample(paths, size) for variant, paths in of.items()} for _ in range(draws)], \
        [target] * draws


def drawn_pairs(paths: List[str], size: int, pairs: int, target: str) -> Tuple[List[Any], List[str]]:
    """So many pairs of groups of one program that share no run."""
    chance = random.Random(size)
    made = []
    for _ in range(pairs):
        chosen = chance.sample(paths, 2 * size)
        made.append({"first": chosen[:size], "second": chosen[size:]})
    return made, [target] * pairs


# --- The page ---

def claims(draws: Sequence[Any], name: str, figure: str) -> Dict[str, float]:
    """Shares of comparisons that say of the group: faster, slower, or neither."""
    counted: Dict[str, float] = {"faster": 0, "slower": 0, "nothing": 0}
    for draw_ in draws:
        of = draw_[name][figure]
        if not of["significant"]:
            counted["nothing"] += 1 / len(draws)
        else:
            is_faster = of["ratio"] > 1 if figure == "speed" else of["difference"] < 0
            counted["faster" if is_faster else "slower"] += 1 / len(draws)
    return counted


def sound_from(figures: Figures, name: str, figure: str) -> Optional[Tuple[int, str]]:
    """The fewest seeds of each from which on comparisons agree, and on what."""
    found = None
    for size in sorted(figures["growing"], key=int, reverse=True):
        counted = claims(figures["growing"][size], name, figure)
        said = next((word for word in ("faster", "slower") if counted[word] >= SOUND), None)
        if said is None or found is not None and found[1] != said:
            break
        found = (int(size), said)
    return found


def title_of(figures: Figures, name: str) -> str:
    return f"{name} ({figures['environments'][name]} environments)"


def to_target(made: Any) -> str:
    return factor_text(made["value"] / made["first"], made)


def factor_text(factor: float, made: Any) -> str:
    of = made["first"]
    if made["low"] is None:
        return f"{number(factor)}"
    return f"{number(factor)} ({number(1 + made['low'] / of)} to {number(1 + made['high'] / of)})"


def verdict(figures: Figures, name: str, figure: str) -> str:
    faster, slower = (("reaches the result sooner", "reaches the result later") if figure == "time_to_target" else
                      ("does more environment steps a second", "does fewer environment steps a second"))
    found = sound_from(figures, name, figure)
    if found is None:
        most = max(figures["growing"], key=int)
        said = {word: study.whole_percent(share)
                for word, share in claims(figures["growing"][most], name, figure).items()}
        return (f"No number of seeds that was tried is enough to say whether {name} {faster} than {FIRST}: with {most} "
                f"of each, {said['faster']} of comparisons say so, {said['slower']} say the opposite, and "
                f"{said['nothing']} find nothing.")
    return (f"{name} {faster if found[1] == 'faster' else slower} than {FIRST}, and {found[0]} seeds of each are "
            "enough to say so.")


def steps_text(figures: Figures) -> str:
    steps = {name: [run["env_steps"] for run in runs] for name, runs in figures["runs"].items()}
    factors = " and ".join(f"{name} needs {with_interval(ratio_interval(steps[name], steps[FIRST]))} times those of "
                           f"{FIRST}" for name in steps if name != FIRST)
    return (f"Environment steps to the result hang on the seed alone, not on what else the machine does: {factors}. "
            "Times hang on both.")


def same_text(figures: Figures) -> str:
    texts = []
    for size, draws in figures["same"].items():
        quiet = {figure: sum(not draw_["second"][figure]["significant"] for draw_ in draws)
                 for figure in ("time_to_target", "speed")}
        texts.append((int(size), quiet, len(draws)))
    several = [row for row in texts if row[0] > 1]
    worst = min(min(row[1].values()) / row[2] for row in several)
    holds = worst >= SOUND
    text = (f"Groups of {' and '.join(str(row[0]) for row in several)} runs of the same program: `gpubound compare` "
            f"found no difference of speed or of time to the result in {study.whole_percent(worst)} of comparisons or "
            f"more, {'as its 95 % intervals promise' if holds else 'fewer than the 95 % that its intervals promise'}. ")
    for size, quiet, draws in texts:
        if size == 1:
            text += (f"Of single runs it found a difference of speed in {draws - quiet['speed']} of {draws}: an "
                     "interval over the iterations of one run says nothing of how the next run differs, and the note "
                     "that `compare` prints says so.")
    return text


def page(figures: Figures) -> str:
    mark = study.SIMULATED
    variants = list(VARIANTS)
    runs = figures["runs"]
    whole = figures["whole"]
    seconds = {name: [run["corrected_ns"] / 1e9 for run in runs[name] if run["corrected_ns"]] for name in variants}
    reached = [[title_of(figures, name), f"{sum(run['reached_ns'] is not None for run in runs[name])} of "
                f"{len(runs[name])}",
                with_interval(interval([run["reached_ns"] / 1e9 for run in runs[name]]), " s"),
                with_interval(interval(seconds[name]), " s") if seconds[name] else "not known",
                with_interval(interval([run["env_steps"] for run in runs[name]])),
                with_interval(interval([run["env_steps_per_second"] for run in runs[name]]))] for name in variants]
    operations = sorted({part["operation"] for of in runs.values() for run in of for part in run["parts"]})
    by_operation = [[operation, *(with_interval(interval([
        sum(part["wall_ns"] for part in run["parts"] if part["operation"] == operation) / 1e9 for run in runs[name]]))
        for name in variants)] for operation in operations]
    costs = [[(run["reached_ns"] - run["corrected_ns"]) / 1e9 for run in runs[name] if run["corrected_ns"]]
             for name in variants]
    by_operation.append(["*of it what recording costs*",
                         *(with_interval(interval(cost)) if cost else "not known" for cost in costs)])
    causes = collections.Counter()  # type: collections.Counter[str]
    for of in runs.values():
        for run in of:
            causes.update(run["idle"])
    idle = [[f"GPU idle: {cause}", *(with_interval(interval([run["idle"].get(cause, 0) / 1e9 for run in runs[name]]))
                                     for name in variants)] for cause, _ in causes.most_common(CAUSES)]
    others = variants[1:]
    compared = [[title_of(figures, name), to_target(whole[name]["time_to_target"]),
                 speed_text(whole[name]["speed"])] for name in others]
    growing = []
    for size, draws in figures["growing"].items():
        for name in others:
            growing.append([size, name] + [f"{study.whole_percent(claims(draws, name, figure)[word])}" for figure in
                                           ("time_to_target", "speed") for word in ("faster", "slower", "nothing")])
    same = []
    for size, draws in figures["same"].items():
        of = [draw_["second"] for draw_ in draws]
        has_target = any(row["time_to_target"]["low"] is not None for row in of)
        same.append([size, str(len(of)),
                     str(sum(row["time_to_target"]["significant"] for row in of)) if has_target else "no interval",
                     str(sum(row["speed"]["significant"] for row in of)),
                     f"{sum(row['rows_marked'] for row in of):,} of {sum(row['rows'] for row in of):,}",
                     f"{sum(row['rows_marked'] for row in of) / max(1, sum(row['rows'] for row in of)) * 100:.1f} %"])
    busy = {name: percent(interval([run["gpu_busy_share"] for run in runs[name]])) for name in variants}
    summary = " ".join(verdict(figures, name, figure) for name in others for figure in ("time_to_target", "speed"))
    return study.assembled(NAME, [
        "# Time to a result, and how many seeds it takes to say so",
        f"**{mark}**: the program runs on a stand-in for a GPU; its kernels are code of the CPU.",
        prose("AlgoPerf judges training by the time to a result, and Bouthillier et al. (MLSys 2021) show that a claim "
              "from too few seeds is noise. The bundled CartPole PPO steps 32 environments at a time (A). Is it faster "
              "with 16 (B) or 64 (C), and how many seeds must one run to know?"),
        prose(summary),
        prose(steps_text(figures)),
        prose(same_text(figures)),
        f"![Time to the result by seed, {mark}]({NAME}.svg)",
        f"## Time to the result ({mark})",
        table(["variant", "reached it", "recorded", "without what recording costs", "environment steps",
               "steps a second"], reached),
        prose(f"The result is `--target '{figures['target']}'`: the mean of the last 100 episodes, as the program "
              "records it after each iteration. Times are from the run's begin; means over seeds with the 95 % "
              "interval by Student's distribution."),
        f"## Where the time went ({mark})",
        table(["seconds until the result", *(title_of(figures, name) for name in variants)], [*by_operation, *idle]),
        prose("Operations are those of `run.training.targets[].parts`, which sum to the time of the process until the "
              "result. Beneath them: why the GPU was idle meanwhile, in the causes of the report. The GPU was busy "
              f"{', '.join(f'{busy[name]} in {name}' for name in variants)}."),
        f"## What `compare` says of all seeds ({mark})",
        table(["against A", "time to the result", "steps a second"], compared),
        prose(f"Factors with the 95 % interval that `gpubound compare --target` gives for {len(runs[FIRST])} runs of "
              "each. Below 1 the time is shorter."),
        f"## How many seeds it takes ({mark})",
        table(["seeds of each", "variant", "to the result: sooner", "later", "nothing", "steps a second: more",
               "fewer", "nothing"], growing),
        prose(f"Of {len(next(iter(figures['growing'].values())))} draws of so many seeds of each variant, without "
              f"putting back, from the {len(runs[FIRST])} that were recorded: the share in which the 95 % interval of "
              f"`compare` excludes no difference. A claim counts as sound from the number of seeds on at which "
              f"{study.whole_percent(SOUND)} of draws or more make it. Draws of many seeds share most of their runs, "
              "so their rows tell less than as many new experiments would."),
        f"## The same program twice ({mark})",
        table(["runs of each", "comparisons", "time to the result: claims", "speed: claims", "rows marked",
               "share of rows"], same),
        prose(f"Pairs of groups that share no run, drawn from {figures['same_runs']} runs of A with seeds of their "
              "own. Seeds are all that differs, so each claim is false. *Rows* are all figures of a comparison that "
              "have an interval: operations, GPU time, causes of idle time. Each is judged by itself, so about one in "
              "twenty is marked; `compare` notes how many that are."),
        "## How it was run",
        prose("`cartpole_ppo --envs N --seed S --target-return 450` under `gpubound run`, one run at a time."),
        prose(f"{study.where_measured(figures)} What else ran adds to how much runs differ."),
    ])


def speed_text(speed: Any) -> str:
    if speed["low"] is None:
        return number(speed["ratio"])
    return f"{number(speed['ratio'])} ({number(speed['low'])} to {number(speed['high'])})"


def draw(figures: Figures, axes: Any) -> None:
    names = list(VARIANTS)
    for row, name in enumerate(names):
        seconds = [(run["corrected_ns"] or run["reached_ns"]) / 1e9 for run in figures["runs"][name]]
        axes.plot(seconds, [row] * len(seconds), "o", color="#08519c", alpha=0.5, markersize=6, linestyle="none")
        mean, low, high = interval(seconds)
        if low == low:
            axes.errorbar([mean], [row + 0.25], xerr=[[mean - low], [high - mean]], fmt="D", color="#cb181d",
                          capsize=3, markersize=4)
    axes.set_yticks(range(len(names)), [title_of(figures, name) for name in names])
    axes.set_ylim(-0.5, len(names) - 0.4)
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    axes.set_xlabel("time to the result of each seed, and their mean with its 95 % interval (s)")
    axes.set_title(study.SIMULATED, fontsize="small", loc="right")


if __name__ == "__main__":
    sys.exit(study.run_study(sys.modules[__name__]))
