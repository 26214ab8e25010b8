# SPDX-License-Identifier: Apache-2.0
"""Processes that fork before and after CUDA, a DataLoader's workers, multiprocessing by spawn."""
from harness.recording import check_sound

TITLE = "children: fork before and after CUDA, DataLoader workers, spawn"

KERNELS = 500


def run(verdict, machine):
    recording = machine.record([machine.build("children"), KERNELS])
    verdict.check(recording.outcome.status == 0 and not recording.outcome.hung,
                  "forks around CUDA end", recording.outcome.describe())
    said = recording.said
    verdict.equal(said.get("statuses"), [0, 5, 6], "the children end as they would without us")
    kernels = {process["pid"]: process["work"]["kinds"].get("kernel", 0)
               for process in recording.facts}
    for who in ("parent", "child"):
        verdict.equal(kernels.get(said.get(who)), KERNELS, f"the {who}'s kernels are its own")
    check_sound(verdict, recording, "forks around CUDA", machine.device_kind)
    if machine.simulated:
        verdict.left_out("DataLoader and spawn", "they need torch on a GPU")
        return
    for how in ("loader", "spawn"):
        check_torch(verdict, machine, how)


def check_torch(verdict, machine, how):
    script = machine.bundle / "programs/torch_children.py"
    plain = machine.command([machine.find_python(), script, how])
    recording = machine.record([machine.find_python(), script, how])
    verdict.check(recording.outcome.status == plain.status == 0 and not recording.outcome.hung,
                  f"torch {how}: ends as it does without us", recording.outcome.describe())
    verdict.equal(recording.outcome.out, plain.out, f"torch {how}: the same output")
    with_work = [process for process in recording.facts if process["work"]["kinds"].get("kernel")]
    verdict.equal(len(with_work), 2 if how == "spawn" else 1,
                  f"torch {how}: the processes that used the GPU are recorded")
    check_sound(verdict, recording, f"torch {how}", machine.device_kind)
