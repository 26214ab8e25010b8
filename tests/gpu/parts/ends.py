# SPDX-License-Identifier: Apache-2.0
"""However a program ends, the kernels that it launched are the kernels recorded, or the time in
which they may have run is unknown."""

TITLE = "flush completeness: return, exit, _exit, exception, SIGTERM, sys.exit, os._exit"

KERNELS = 2000
KILLED_AFTER_S = 0.6  # of programs/ends.cu
# How a program ends, its status, and whether everything must arrive. Nothing can run in a process
# that a signal ends: there the reader has what was delivered half a second before.
NATIVE_ENDS = (("return", 0, True), ("exit", 3, True), ("_exit", 4, True), ("busy", 0, True),
               ("late", 0, True), ("exception", 128 + 6, False), ("sigterm", 128 + 15, False))
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
    unknown_ns = recording.unknown_ns()
    verdict.check(found <= expected and (found == expected or unknown_ns > 0),
                  f"{how}: what was not delivered is unknown time",
                  f"{found} of {expected} kernels, {unknown_ns / 1e6:.1f} ms unknown")


def check_killed_at_work(verdict, machine, program):
    """SIGKILL while a kernel of seconds runs: what it did is not known and is not idle time."""
    recording = machine.record([program, "killed", KERNELS])
    verdict.equal(recording.outcome.status, 128 + 9, "killed at work: the status is the signal's")
    found, unknown_ns = kernels_of(recording), recording.unknown_ns()
    verdict.equal(found, KERNELS, "killed at work: every kernel delivered before is there")
    verdict.check(unknown_ns >= 0.8 * 1e9 * KILLED_AFTER_S, "killed at work: the time since the last "
                  "delivery is unknown", f"{unknown_ns / 1e6:.0f} ms, launched {KILLED_AFTER_S} s before")
    verdict.add_report("killed at work", recording.text)


def run(verdict, machine):
    program = machine.build("ends")
    if machine.simulated:
        verdict.left_out("a kill at work", "its kernels take as long as the script says")
    else:
        check_killed_at_work(verdict, machine, program)
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
