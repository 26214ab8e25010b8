# SPDX-License-Identifier: Apache-2.0
"""Calls that are not recorded cost nothing, are counted where that is asked for, and nothing that is
recorded depends on it."""
import statistics

from harness.recording import account_of

TITLE = "queries cost nothing, are counted on request, and nothing is lost by it"

TURNS = 200_000
TURNS_BEFORE = 200  # that the program makes to warm up, see programs/calls.cu
QUERIES_PER_TURN = 7
QUERIES = 5_000_000  # in a row
ROUNDS = 5
COUNTER = "api_calls_suppressed"
WAYS = {"not counted": 0, "each counted": 1}


def run(verdict, machine):
    count(verdict, machine)
    ask(verdict, machine)
    keep(verdict, machine, "a captured graph", [machine.build("graphs"), 20, 2_000])
    if machine.simulated:
        verdict.left_out("torch", "it needs a GPU")
        return
    script = machine.bundle / "programs/torch_actor_critic.py"
    for what, options in (("torch", []), ("torch with a CUDA graph", ["--graph"])):
        keep(verdict, machine, what, [machine.find_python(), script, *options])


def record(machine, words, counts):
    return machine.record(words, GPUBOUND_COUNT_QUERIES=str(counts))


def count(verdict, machine):
    """Interleaved, so that what the machine does meanwhile falls on all ways alike."""
    words = [machine.build("calls"), TURNS]
    made = QUERIES_PER_TURN * (TURNS + TURNS_BEFORE)
    times = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, counts in WAYS.items():
            recording = record(machine, words, counts)
            times[name].append(recording.said["ns_per_turn"])
            verdict.equal(recording.process["work"]["kinds"], {"kernel": TURNS + TURNS_BEFORE},
                          f"{name}: every kernel has a time")
            counted = recording.ledger(COUNTER)
            if counts:
                verdict.check(made <= counted <= made + 1_000, "each query is counted",
                              f"{counted} of {made}")
            else:
                verdict.equal([entry["counter"] for entry in recording.report["not_counted"]], [COUNTER],
                              "queries are said not to be counted")
    for name, values in times.items():
        ratios = sorted(value / least for value, least in zip(values, times["not counted"]))
        verdict.figure(f"a turn of 8 calls and one kernel, {name}",
                       f"median {statistics.median(values):.0f} ns, ratio "
                       f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


def ask(verdict, machine):
    """What a query costs by itself."""
    words = [machine.build("calls"), "ask", QUERIES]
    ways = {"without gpubound": lambda: machine.command(words)}
    for name, counts in WAYS.items():
        ways[name] = lambda counts=counts: record(machine, words, counts).outcome
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            times[name].append(account_of(way())["ns_per_query"])
    for name, values in times.items():
        verdict.figure(f"a query, {name}", f"median {statistics.median(values):.1f} ns of "
                       + " ".join(f"{value:.1f}" for value in sorted(values)))


def keep(verdict, machine, what, words):
    """What is recorded where queries are called back for is what is recorded without."""
    found = {}
    for name, counts in WAYS.items():
        recording = record(machine, words, counts)
        if not verdict.check(recording.outcome.status == 0, f"{what}, {name}: ends well",
                             recording.outcome.describe()):
            return
        for counter in ("cupti_api_errors", "cupti_zero_timestamps"):
            verdict.equal(recording.ledger(counter), 0, f"{what}, {name}: {counter}")
        found[name] = recording.process["work"]["kinds"]
        verdict.figure(f"{what}, {name}", f"{recording.ledger(COUNTER)} queries")
    verdict.equal(found["each counted"], found["not counted"], f"{what}: the same work")
