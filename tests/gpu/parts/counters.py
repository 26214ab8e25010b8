# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of the example: sampled where the rights are there, else a reason and no harm."""
from harness.recording import check_sound

TITLE = "hardware counters"

SHARES = ("sm_active_share", "warps_active_share", "dram_throughput_share")


def run(verdict, machine):
    sources = sorted((machine.bundle / "src/examples/cartpole_ppo").glob("*.cc"))
    program = machine.build_example(sources)
    recording = machine.record([program], options=["--counters", "occupancy"], timeout_s=300)
    verdict.check(recording.outcome.status == 0 and not recording.outcome.hung,
                  "it trains to the end", recording.outcome.describe())
    check_sound(verdict, recording, "counters", machine.device_kind)
    rows = recording.report["processes"][0]["counters"]
    notes = [line for line in recording.outcome.err.splitlines() if "counters" in line]
    if not verdict.check(bool(rows) or bool(notes), "counters are sampled, or it says why not",
                         f"{len(rows)} operations; {notes[:1]}"):
        return
    for row in rows:
        known = {name: row[name] for name in SHARES}
        verdict.check(all(share is None or 0 <= share <= 1 for share in known.values()),
                      f"{row['operation']}: shares of the peak", f"{known}")
    process = recording.report["processes"][0]
    sampled_ns = sum(row["sampled_ns"] for row in rows)
    if rows:
        verdict.check(sampled_ns > 0.8 * process["span_ns"],
                      "samples cover the run from the first kernel on",
                      f"{sampled_ns} of {process['span_ns']} ns")
