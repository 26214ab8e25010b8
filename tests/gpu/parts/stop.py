# SPDX-License-Identifier: Apache-2.0
"""Once the recording has ended in the middle of a program, the program is as fast as without us."""
import statistics

TITLE = "no slowdown is left after the recording has ended"

ROUNDS = 7
SECONDS = 6
RECORDED_S = 2
SETTLED_S = 3.5  # since the program began: the recording is over by then


def run(verdict, machine):
    program = machine.build("calls")
    words = [program, "for", SECONDS]
    ways = {"without gpubound": lambda: machine.command(words),
            "recorded for two seconds": lambda: machine.record(
                words, options=["--duration", RECORDED_S]).outcome}
    seen = {name: {"early": [], "late": []} for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            slices = slices_of(verdict, way(), name)
            seen[name]["early"].append(statistics.median(ns for at, ns in slices if 1 < at < 1.9))
            seen[name]["late"].append(statistics.median(ns for at, ns in slices if at > SETTLED_S))
    for name, times in seen.items():
        for when, values in times.items():
            verdict.figure(f"a turn of 8 calls and one kernel, {name}, {when}",
                           f"median {statistics.median(values):.0f} ns of "
                           + " ".join(f"{value:.0f}" for value in values))
    if machine.simulated:
        verdict.left_out("whether a slowdown is left", "the stand-in costs what it costs")
        return
    plain, recorded = (seen[name]["late"] for name in ways)
    ratio = statistics.median(recorded) / statistics.median(plain)
    verdict.check(ratio < 1.1,
                  "after the recording the turns are as short as without it", f"ratio {ratio:.3f}")


def slices_of(verdict, outcome, name):
    """Seconds since the program began and ns per turn, of each slice of it."""
    slices = [tuple(float(word) for word in line.split()[1:]) for line in outcome.out.splitlines()
              if line.startswith("slice ")]
    if not slices:
        verdict.check(False, f"{name}: the program says its slices", outcome.describe())
    return slices
