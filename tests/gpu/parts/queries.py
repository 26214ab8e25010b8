# SPDX-License-Identifier: Apache-2.0
"""Calls that are not recorded are counted in a hundredth of the time: how well, for how much, and
that switching callbacks in the middle of a program loses nothing of what is recorded."""
import statistics

TITLE = "queries are estimated, cheaply, and nothing is lost by it"

TURNS = 200_000
TURNS_BEFORE = 200  # that the program makes to warm up, see programs/calls.cu
QUERIES_PER_TURN = 7
ROUNDS = 5
COUNTER = "api_calls_suppressed"
WAYS = {"none counted": 0, "a hundredth counted": 1, "each counted": 100}


def run(verdict, machine):
    count(verdict, machine)
    keep(verdict, machine, "a captured graph", [machine.build("graphs"), 20, 2_000])
    if machine.simulated:
        verdict.left_out("torch", "it needs a GPU")
        return
    script = machine.bundle / "programs/torch_actor_critic.py"
    for what, options in (("torch", []), ("torch with a CUDA graph", ["--graph"])):
        keep(verdict, machine, what, [machine.find_python(), script, *options])


def record(machine, words, percent):
    return machine.record(words, GPUBOUND_COUNT_QUERIES=str(percent))


def count(verdict, machine):
    """Interleaved, so that what the machine does meanwhile falls on all ways alike."""
    words = [machine.build("calls"), TURNS]
    made = QUERIES_PER_TURN * (TURNS + TURNS_BEFORE)
    times = {name: [] for name in WAYS}
    estimates = []
    for _ in range(ROUNDS):
        for name, percent in WAYS.items():
            recording = record(machine, words, percent)
            times[name].append(recording.said["ns_per_turn"])
            if percent == 100:
                verdict.check(made <= recording.ledger(COUNTER) <= made + 1_000,
                              "each call is counted", f"{recording.ledger(COUNTER)} of {made}")
            if percent == 1:
                error = recording.report["estimated"][0]["standard_error"]
                estimates.append((recording.ledger(COUNTER), error))
    for name, values in times.items():
        ratios = sorted(value / least for value, least in zip(values, times["none counted"]))
        verdict.figure(f"a turn of 8 calls and one kernel, {name}",
                       f"median {statistics.median(values):.0f} ns, ratio "
                       f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    verdict.figure(f"estimates of {made}, with standard errors", estimates)
    middle = statistics.median(estimate for estimate, _ in estimates)
    verdict.check(0.8 * made < middle < 1.25 * made, "the estimate is right",
                  f"median {middle:.0f} of {made}")


def keep(verdict, machine, what, words):
    """What is recorded while callbacks are switched is what is recorded without."""
    found = {}
    for name, percent in WAYS.items():
        recording = record(machine, words, percent)
        if not verdict.check(recording.outcome.status == 0, f"{what}, {name}: ends well",
                             recording.outcome.describe()):
            return
        verdict.equal(recording.ledger("cupti_api_errors"), 0,
                      f"{what}, {name}: CUPTI refused no call of ours")
        found[name] = recording.process["work"]["kinds"]
        verdict.figure(f"{what}, {name}", f"{recording.ledger(COUNTER)} calls")
    verdict.equal(found["a hundredth counted"], found["none counted"], f"{what}: the same work")
