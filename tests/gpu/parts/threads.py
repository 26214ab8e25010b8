# SPDX-License-Identifier: Apache-2.0
"""The thread that CUPTI names for a call is the system thread that made it."""
from harness.recording import check_sound

TITLE = "API thread ids are gettid() of the calling threads"

THREADS = 8
KERNELS = 500
# CUPTI keeps a buffer for each thread, which is not given back when the thread ends. How, how many
# threads, and how many kernels each.
CROWDS = (("brief", 4_000, 8), ("held", 300, 50))
SAMPLED = {"GPUBOUND_SAMPLE_MS": 100}
GROWTH_MIB = 192  # of the most resident memory, above that of the eight threads


def run(verdict, machine):
    recording = machine.record([machine.build("threads"), THREADS, KERNELS], **SAMPLED)
    verdict.equal(recording.outcome.status, 0, "the program ends well")
    process = recording.process
    launches = {thread["tid"]: sum(count for name, count in thread["calls"].items()
                                   if name.startswith("cudaLaunchKernel"))
                for thread in process["threads"]}
    tids = recording.said["tids"]
    verdict.equal(sorted(set(tids) - launches.keys()), [], "every thread is known by its id")
    verdict.equal([launches.get(tid) for tid in tids], [KERNELS] * THREADS,
                  "every launch is on the thread that made it")
    verdict.equal(process["work"]["kinds"].get("kernel"), THREADS * KERNELS, "no kernel is missing")
    verdict.equal(process["work"]["without_call"], 0, "every kernel has its launch")
    verdict.equal(recording.ledger("cupti_api_errors"), 0, "CUPTI refused no call of ours")
    check_sound(verdict, recording, "eight threads", machine.device_kind)
    for how, threads, kernels in CROWDS:
        check_crowd(verdict, machine, recording, how, threads, kernels)


def check_crowd(verdict, machine, few, how, threads, kernels):
    crowd = machine.record([machine.build("threads"), threads, kernels, how], **SAMPLED)
    what = f"{threads} {how} threads"
    verdict.check(crowd.outcome.status == 0 and not crowd.outcome.hung, f"{what}: end well",
                  crowd.outcome.describe())
    work = crowd.process["work"]
    verdict.equal(work["kinds"].get("kernel"), threads * kernels, f"{what}: no kernel is missing")
    verdict.equal(work["without_call"], 0, f"{what}: every kernel has its launch")
    grown_mib = (crowd.most_resident_bytes() - few.most_resident_bytes()) / (1 << 20)
    verdict.check(grown_mib <= GROWTH_MIB, f"{what}: memory is bounded",
                  f"{grown_mib:.0f} MiB more than eight threads")
