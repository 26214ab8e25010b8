# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of the example: sampled where the rights are there, else a reason and no harm."""
from harness.recording import check_sound

TITLE = "hardware counters"

# CUPTI takes some tenths of a second to begin. The program exits with 3 where it does not get there.
LONG_ENOUGH = ("--target-return", "500", "--iterations", "100")
SHARES = ("sm_active_share", "warps_active_share", "dram_throughput_share")


def run(verdict, machine):
    sources = sorted((machine.bundle / "src/examples/cartpole_ppo").glob("*.cc"))
    program = machine.build_example(sources)
    recording = machine.record([program, *LONG_ENOUGH], options=["--counters", "occupancy"], timeout_s=300)
    verdict.check(recording.outcome.status in (0, 3) and not recording.outcome.hung,
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
    if not rows:
        return
    begin_ns, end_ns, sampled_ns = recording.rows(
        "select min(begin_ns), max(end_ns), sum(end_ns - begin_ns) from counter_sample")[0]
    verdict.check(sampled_ns > 0.98 * (end_ns - begin_ns), "samples follow one another without gaps",
                  f"{sampled_ns / 1e6:.1f} of {(end_ns - begin_ns) / 1e6:.1f} ms")
    process = recording.report["processes"][0]
    by_launch = {row["operation"]: row["sm_filled_ns"] / row["wall_ns"]
                 for row in process["operations"] if row["wall_ns"]}
    for row in rows:
        verdict.figure(f"{row['operation']}: SM fill computed from launches, of its time",
                       f"{by_launch.get(row['operation'], 0):.5f}, warps active by the counter "
                       f"{row['warps_active_share']:.5f}")
