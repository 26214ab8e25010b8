# SPDX-License-Identifier: Apache-2.0
"""More kernels than CUPTI's device buffers hold: every one is recorded or counted, in memory that
stays flat."""
import os

TITLE = "a storm of 30 million kernels: zero timestamps, drops, memory"

KERNELS = 30_000_000
SIMULATED_KERNELS = 200_000  # at the speed of the simulated device
BUFFER_MIB = 64
GROWTH_MIB = BUFFER_MIB + 64  # beside CUPTI's buffers: the live mapping, SQLite's cache, the driver
DEVICE_FAMILY = 3             # of proto/event_model.h
LOSSES = ("cupti_records_dropped", "device_records_dropped", "cupti_zero_timestamps")


def run(verdict, machine):
    kernels = int(os.environ.get("GPUBOUND_GPU_STORM",
                                 SIMULATED_KERNELS if machine.simulated else KERNELS))
    recording = machine.record([machine.build("storm"), kernels], timeout_s=420,
                               GPUBOUND_CUPTI_BUFFER_MB=BUFFER_MIB)
    verdict.check(recording.outcome.status == 0 and not recording.outcome.hung,
                  "the program ends well", recording.outcome.describe())
    said = recording.said
    if not said:
        return
    verdict.figure("kernels a second", f"{kernels / said['seconds']:.0f}")
    grown_mib = (said["late_kib"] - said["early_kib"]) / 1024
    verdict.check(grown_mib <= GROWTH_MIB, f"resident memory grows by at most {GROWTH_MIB} MiB",
                  f"{grown_mib:.1f} MiB after a quarter of the kernels")
    verdict.figure("device memory grew by",
                   f"{(said['late_device_kib'] - said['early_device_kib']) / 1024:.1f} MiB")
    recorded = recording.events(DEVICE_FAMILY)
    verdict.check(recording.counters.issuperset(LOSSES), "the ledger has these counters", str(LOSSES))
    ledger = {name: sum(row[0] for row in recording.rows(
        f"select value from ledger where counter = '{name}'")) for name in LOSSES}
    verdict.figure("lost", ledger)
    lost = sum(ledger.values())
    verdict.check(recorded + lost >= kernels, "every kernel is recorded or counted as lost",
                  f"{recorded} recorded, {lost} lost, {kernels} launched")
    verdict.figure("run directory",
                   f"{sum(file.stat().st_size for file in recording.path.iterdir()) / 1e6:.0f} MB")
