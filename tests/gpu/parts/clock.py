# SPDX-License-Identifier: Apache-2.0
"""The times of the device and those of the CPU lie on one axis, and stay there: no kernel begins
before its launch or ends after the wait for it."""

TITLE = "device times against CPU times, over a minute"

SECONDS = 60
SIMULATED_SECONDS = 3


def run(verdict, machine):
    seconds = SIMULATED_SECONDS if machine.simulated else SECONDS
    recording = machine.record([machine.build("steady"), seconds], timeout_s=seconds + 60)
    slices = recording.process["clock"]
    verdict.equal(sum(one["kernels"] for one in slices), recording.said.get("launched"),
                  "every kernel has its launch and its wait")
    for at, one in enumerate(slices):
        verdict.figure(f"second {at * 10}", f"{one['kernels']} kernels, begin {one['least_start_delay_ns']} "
                       f"ns after the launch began at least, end {one['least_end_lead_ns']} ns before the "
                       "wait ended at least")
    verdict.check(all(one["least_start_delay_ns"] >= 0 for one in slices),
                  "no kernel begins before the launch of it")
    verdict.check(all(one["least_end_lead_ns"] >= 0 for one in slices),
                  "no kernel ends after the wait for it")
