# SPDX-License-Identifier: Apache-2.0
"""Calls, waits and events by callbacks are those that CUPTI's records tell of."""
import statistics
import time

TITLE = "--api callbacks and mixed tell the same as --api records"

LEVELS = ("records", "mixed", "callbacks")
ROUNDS = 5  # of the time that CUDA takes to start
# CUpti_ActivitySynchronizationType, and ours.
SYNC_TYPES = {"1": "waits for events", "2": "waits of streams", "3": "waits for streams",
              "4": "waits for contexts", "1000": "recorded events"}
# What no two runs of one program need have in common: how often they look or allocate.
UNSTEADY = ("cuMem", "cudaMem", "cudaMalloc", "cudaFree", "cudaHost", "cuLibrary", "cuModule",
            "cuKernel", "cuOccupancy", "cudaOccupancy", "cuStreamWaitValue")


def run(verdict, machine):
    compare(verdict, machine, "calls of the runtime", [machine.build("calls"), 2_000], exact=True)
    compare(verdict, machine, "a captured graph", [machine.build("graphs"), 20, 50], exact=True)
    start(verdict, machine, [machine.build("calls"), 1])
    if machine.simulated:
        verdict.left_out("torch and JAX", "they need a GPU")
        return
    python, programs = machine.find_python(), machine.bundle / "programs"
    compare(verdict, machine, "torch",
            [python, programs / "torch_actor_critic.py", "--iterations", 10], exact=True)
    compare(verdict, machine, "torch with a CUDA graph",
            [python, programs / "torch_actor_critic.py", "--graph", "--iterations", 10], exact=True)
    compare(verdict, machine, "JAX", [python, programs / "jax_train.py"], exact=False)


def compare(verdict, machine, what, words, exact):
    """|exact|: every run of the program makes the same calls."""
    found = {}
    for level in LEVELS:
        recording = machine.record(words, options=["--api", level],
                                   XLA_PYTHON_CLIENT_PREALLOCATE="false")
        if not verdict.check(recording.outcome.status == 0, f"{what}, {level}: ends well",
                             recording.outcome.describe()):
            return
        verdict.equal(recording.ledger("cupti_api_errors"), 0,
                      f"{what}, {level}: CUPTI refused no call of ours")
        verdict.equal(recording.ledger("device_records_dropped"), 0, f"{what}, {level}: none is lost")
        found[level] = recording.process
        verdict.add_report(f"{what}, {level}", recording.text)
    verdict.figure(f"{what}, device work without a call",
                   {level: found[level]["work"]["without_call"] for level in LEVELS})
    for level in LEVELS[1:]:
        expect_same(verdict, f"{what}, {level}", level, {by: found[by] for by in ("records", level)}, exact)


def expect_same(verdict, what, level, found, exact):
    """|found|: the process by records and by |level|."""
    verdict.check(found[level]["work"]["without_call"] <= found["records"]["work"]["without_call"],
                  f"{what}: no launch is missing")
    works, calls, waits = ({by: read(process) for by, process in found.items()}
                           for read in (works_of, calls_of, syncs_of))
    names = sorted(set(calls["records"]) | set(calls[level]))
    differing = {name: [calls[by].get(name, 0) for by in ("records", level)] for name in names
                 if calls["records"].get(name) != calls[level].get(name)}
    verdict.figure(f"{what}, calls that differ, records first", differing)
    verdict.figure(f"{what}, work and synchronisation", [works, waits])
    if not exact:
        return
    verdict.equal(works[level], works["records"], f"{what}: the same work")
    verdict.equal({name: counts for name, counts in differing.items()
                   if not name.startswith(UNSTEADY)}, {}, f"{what}: the same calls")
    # CUPTI's records tell of queries of events, too.
    for_events = waits[level].pop("waits for events", 0)
    waits["records"].pop("waits for events", None)
    verdict.equal(waits[level], waits["records"], f"{what}: the same waits and events")
    asked = sum(count for name, count in calls[level].items() if "EventSynchronize" in name)
    verdict.equal(for_events, asked, f"{what}: as many waits for events as were asked for")


def works_of(process):
    return process["work"]["kinds"]


def calls_of(process):
    calls = {}
    for thread in process["threads"]:
        for name, count in thread["calls"].items():
            calls[name] = calls.get(name, 0) + count
    return calls


def syncs_of(process):
    return {SYNC_TYPES.get(kind, kind): count for kind, count in process["syncs"].items()}


def start(verdict, machine, words):
    seen = {level: [] for level in LEVELS}
    for _ in range(ROUNDS):
        for level in LEVELS:
            began = time.monotonic()
            machine.record(words, options=["--api", level])
            seen[level].append(time.monotonic() - began)
    for level, times in seen.items():
        verdict.figure(f"one turn and all of CUDA's start, {level}",
                       f"{1e3 * statistics.median(times):.0f} ms")
