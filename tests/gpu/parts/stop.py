# SPDX-License-Identifier: Apache-2.0
"""Once the recording has ended in the middle of a program, the program is as fast as without us, and
goes on: CUPTI is switched off while threads are in CUDA calls."""
import concurrent.futures
import statistics

TITLE = "programs outlive the end of their recording, and no slowdown is left"

ROUNDS = 7
SECONDS = 6
RECORDED_S = 2
SETTLED_S = 3.5  # since the program began: the recording is over by then
ENDS, AT_ONCE = 120, 12  # of recordings in mid-program


def run(verdict, machine):
    program = machine.build("calls")
    outlive(verdict, machine, program)
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


def outlive(verdict, machine, program):
    """Programs that do nothing but CUDA calls, ended within them."""
    ends = AT_ONCE if machine.simulated else ENDS
    with concurrent.futures.ThreadPoolExecutor(2 if machine.simulated else AT_ONCE) as pool:
        ended = list(pool.map(lambda _: machine.record([program, "for", 2], options=["--duration", 1]),
                              range(ends)))
    bad = [recording.outcome.describe() for recording in ended if recording.outcome.status != 0]
    verdict.check(not bad, "programs outlive the end of their recording",
                  f"{ends - len(bad)} of {ends}" + "; ".join(["", *bad[:3]]))
    lossy = [recording for recording in ended if recording.ledger("cupti_zero_timestamps") != 0]
    verdict.check(not lossy, "and no kernel of theirs is without a time", f"{len(lossy)} lost some")


def slices_of(verdict, outcome, name):
    """Seconds since the program began and ns per turn, of each slice of it."""
    slices = [tuple(float(word) for word in line.split()[1:]) for line in outcome.out.splitlines()
              if line.startswith("slice ")]
    if not slices:
        verdict.check(False, f"{name}: the program says its slices", outcome.describe())
    return slices
