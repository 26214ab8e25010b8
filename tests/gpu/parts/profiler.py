# SPDX-License-Identifier: Apache-2.0
"""torch.profiler beside us, in both orders: whoever has CUPTI gets all of it, and we say who."""
from harness.recording import check_sound

TITLE = "torch.profiler in the profiled program"

KERNELS = 300


def run(verdict, machine):
    if machine.simulated:
        verdict.check(False, "this part needs torch on a GPU")
        return
    script = [machine.find_python(), machine.bundle / "programs/torch_profiler.py"]
    later = machine.record([*script, "later", KERNELS])
    verdict.equal(later.outcome.status, 0, "profiler later: the program ends well")
    verdict.check(later.said.get("profiled", 0) >= KERNELS,
                  "profiler later: it gets every kernel of its window", str(later.said))
    verdict.equal(later.ledger("cupti_yielded"), 1, "profiler later: we gave CUPTI up once")
    verdict.check("CUPTI was handed to" in later.outcome.err, "profiler later: one line says to whom",
                  later.outcome.err.strip()[-300:])
    check_sound(verdict, later, "profiler later", machine.device_kind)
    check_unknown(verdict, later, "profiler later")

    kept = machine.record([*script, "later", KERNELS], GPUBOUND_KEEP_CUPTI=1)
    verdict.equal(kept.said.get("profiled"), 0, "CUPTI kept: the profiler gets no kernel")
    kernels = kept.process["work"]["kinds"].get("kernel", 0)
    verdict.check(kernels >= 2 * KERNELS, "CUPTI kept: we record before and during the profile",
                  f"{kernels} kernels")

    first = machine.record([*script, "first", KERNELS])
    verdict.equal(first.outcome.status, 0, "profiler first: the program ends well")
    verdict.check(first.said.get("profiled", 0) >= KERNELS,
                  "profiler first: it gets every kernel", str(first.said))
    gave_way = first.ledger("cupti_held_by_other") + first.ledger("cupti_yielded")
    verdict.equal(gave_way, 1, "profiler first: the ledger says that CUPTI is not ours")
    verdict.add_report("profiler first", first.text)
    check_unknown(verdict, first, "profiler first")


def check_unknown(verdict, recording, what):
    unknown_ns = recording.unknown_ns()
    verdict.check(unknown_ns > 0, f"{what}: GPU time from then on is unknown, not idle",
                  f"{unknown_ns / 1e6:.1f} ms")
