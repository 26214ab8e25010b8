# SPDX-License-Identifier: Apache-2.0
"""Training programs in torch and JAX: the report is sound, and the device was as busy as
torch.profiler says of a second run."""
import json

from harness.recording import check_sound, is_busy

TITLE = "torch eager, torch CUDA graphs, JAX"

# Two runs of the same program on the same device, the clocks of which move a little.
TOLERANCE = 0.10


def run(verdict, machine):
    if machine.simulated:
        verdict.check(False, "this part needs torch and jax on a GPU")
        return
    for name, words, options in (
            ("torch eager", ["torch_actor_critic.py"], []),
            ("torch CUDA graph", ["torch_actor_critic.py", "--graph"], []),
            ("torch CUDA graph, level auto", ["torch_actor_critic.py", "--graph"],
             ["--graphs", "auto"])):
        script = [machine.find_python(), machine.bundle / "programs" / words[0], *words[1:]]
        recording = machine.record(script, options=options)
        verdict.equal(recording.outcome.status, 0, f"{name}: the program ends well")
        check_sound(verdict, recording, name, machine.device_kind)
        busy_ns = recording.cells_ns("measured", is_busy)
        wall_ns = recording.cells_ns("measured")
        verdict.check(wall_ns > 0, f"{name}: the measured phase is in the report",
                      f"busy {busy_ns / 1e6:.2f} of {wall_ns / 1e6:.2f} ms")
        if not options:
            compare(verdict, machine, name, script, busy_ns)
    script = [machine.find_python(), machine.bundle / "programs/jax_train.py"]
    recording = machine.record(script, timeout_s=240)
    verdict.check(recording.outcome.status == 0, "jax: the program ends well",
                  recording.outcome.describe())
    check_sound(verdict, recording, "jax", machine.device_kind)
    verdict.figure("jax said", recording.said)
    for level in ("node", "auto"):
        check_scopes(verdict, machine, level)


def check_scopes(verdict, machine, level):
    """Operations inside of one jitted function. XLA launches most of it as CUDA graphs, whose nodes
    belong to the scope they were made in; of a graph recorded as a whole only the launch is known."""
    script = [machine.find_python(), machine.bundle / "programs/jax_scopes.py"]
    recording = machine.record(script, options=["--graphs", level], timeout_s=240)
    verdict.check(recording.outcome.status == 0, f"jax scopes, level {level}: the program ends well",
                  recording.outcome.describe())
    check_sound(verdict, recording, f"jax scopes, level {level}", machine.device_kind)
    caused_ms = {row["operation"]: row["gpu_caused_ns"] / 1e6
                 for process in recording.report["processes"] for row in process["operations"]}
    verdict.figure(f"jax scopes, level {level}: GPU time caused, ms", caused_ms)
    verdict.figure(f"jax scopes, level {level}: it said", recording.said)
    labels = recording.rows("select count(*) from label where domain = 'TSL'")
    verdict.check(labels[0][0] < 1000, f"jax scopes, level {level}: XLA's ranges have few names",
                  f"{labels[0][0]}")
    if level != "node":
        return
    for scope in ("inference", "simulation", "backpropagation"):
        verdict.check(caused_ms.get(scope, 0) > 0, f"jax scopes: GPU time of {scope} is its own",
                      f"{caused_ms.get(scope, 0):.3f} ms")


def compare(verdict, machine, name, script, busy_ns):
    """With the union of the work that torch.profiler sees of the same loop, without us."""
    trace = machine.scratch / "kineto.json"
    plain = machine.command([*script, "--profile", trace])
    if not verdict.equal(plain.status, 0, f"{name}: runs under torch.profiler"):
        return
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    intervals = sorted((float(event["ts"]), float(event["ts"]) + float(event["dur"]))
                       for event in events
                       if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
    theirs_us, until_us = 0.0, float("-inf")
    for start_us, end_us in intervals:
        theirs_us += max(0.0, end_us - max(start_us, until_us))
        until_us = max(until_us, end_us)
    ratio = busy_ns / 1000 / theirs_us if theirs_us else 0
    verdict.check(abs(ratio - 1) <= TOLERANCE,
                  f"{name}: as busy as torch.profiler says, within {TOLERANCE:.0%}",
                  f"ours {busy_ns / 1e6:.3f} ms, theirs {theirs_us / 1e3:.3f} ms in {len(intervals)}"
                  f" pieces, ratio {ratio:.3f}")
