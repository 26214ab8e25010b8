# SPDX-License-Identifier: Apache-2.0
"""The thread that CUPTI names for a call is the system thread that made it."""
from harness.recording import check_sound

TITLE = "API thread ids are gettid() of the calling threads"

THREADS = 8
KERNELS = 500


def run(verdict, machine):
    recording = machine.record([machine.build("threads"), THREADS, KERNELS])
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
