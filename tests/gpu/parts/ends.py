# SPDX-License-Identifier: Apache-2.0
"""However a program ends, the kernels that it launched are the kernels recorded, or the time in
which they may have run is unknown."""

TITLE = "flush completeness: return, exit, _exit, exception, SIGTERM, sys.exit, os._exit"

KERNELS = 2000
# How a program ends, its status, and whether everything must arrive. Nothing can run in a process
# that a signal ends: there the reader has what was delivered half a second before.
NATIVE_ENDS = (("return", 0, True), ("exit", 3, True), ("_exit", 4, True), ("busy", 0, True),
               ("exception", 128 + 6, False), ("sigterm", 128 + 15, False))
PYTHON_ENDS = (("return", 0, True), ("sys.exit", 3, True), ("os._exit", 4, True),
               ("exception", 1, True), ("sigterm", 128 + 15, False))


def kernels_of(recording):
    return recording.process["work"]["kinds"].get("kernel", 0)


def check_end(verdict, recording, how, status, complete, expected):
    verdict.check(not recording.outcome.hung and recording.outcome.status == status,
                  f"{how}: ends with status {status}", recording.outcome.describe())
    found = kernels_of(recording)
    if complete:
        verdict.equal(found, expected, f"{how}: every kernel launched is recorded")
        return
    unknown_ns = sum(row["unknown_ns"] for process in recording.report["processes"]
                     for row in process["operations"])
    verdict.check(found <= expected and (found == expected or unknown_ns > 0),
                  f"{how}: what was not delivered is unknown time",
                  f"{found} of {expected} kernels, {unknown_ns / 1e6:.1f} ms unknown")


def run(verdict, machine):
    program = machine.build("ends")
    for how, status, complete in NATIVE_ENDS:
        recording = machine.record([program, how, KERNELS])
        check_end(verdict, recording, how, status, complete, KERNELS)
    if machine.simulated:
        verdict.left_out("the ends of a Python program", "it needs torch on a GPU")
        return
    script = machine.bundle / "programs/torch_ends.py"
    # How many kernels the script runs beside its N is torch's business; it is the same for each end.
    reference = None
    for how, status, complete in PYTHON_ENDS:
        recording = machine.record([machine.find_python(), script, how, KERNELS])
        if reference is None:
            reference = kernels_of(recording)
            verdict.check(reference >= KERNELS, "python return: every kernel launched is recorded",
                          f"{reference} recorded, {KERNELS} and a few launched")
        check_end(verdict, recording, f"python {how}", status, complete, reference)
