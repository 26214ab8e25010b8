# SPDX-License-Identifier: Apache-2.0
"""examples/cartpole_ppo, by nvcc on a GPU: it learns, and its report names its operations."""
from harness.recording import check_sound

TITLE = "examples/cartpole_ppo"

OPERATIONS = {"simulation", "inference", "backpropagation"}


def run(verdict, machine):
    sources = sorted((machine.bundle / "src/examples/cartpole_ppo").glob("*.cc"))
    program = machine.build_example(sources)
    recording = machine.record([program], timeout_s=300)
    verdict.check(recording.outcome.status == 0 and not recording.outcome.hung,
                  "it trains to the end", recording.outcome.describe())
    verdict.figure("its last line", (recording.outcome.out.strip().splitlines() or ["nothing"])[-1])
    check_sound(verdict, recording, "cartpole_ppo", machine.device_kind)
    rows = {row["operation"] for process in recording.report["processes"]
            for row in process["operations"]}
    verdict.check(OPERATIONS <= rows, "its operations are rows of the report", ", ".join(sorted(rows)))
    process = recording.report["processes"][0]
    verdict.figure("true busy against what nvidia-smi would say",
                   f"{process['gpu_busy_ns'] / process['span_ns']:.3f} against "
                   f"{process['smi_model']}")
