# SPDX-License-Identifier: Apache-2.0
"""How far corrected times are from the truth: the same iterations of a training loop, in processes that are
recorded and in processes that are not, which take turns.
Libraries are loaded and the loops are warm before that. What the machine does meanwhile, by which
iterations of one and the same process became two fifths longer within seconds, falls on all alike, and
so does how fast a processor is. There are several processes of each kind, and what these differ by is
the error.
On the simulated device: stable-baselines3 on the CPU."""
import concurrent.futures
import dataclasses
import json
import random
import struct

from harness.recording import Recording, account_of
from harness.turns import PausingProgram, compared, take_turns

TITLE = "the residual of corrected times, of recorded and plain processes in turns"

CALIBRATION_S = 35
TURN_S = 0.07  # of which the first 10 ms are an eighth slower, recorded or not, on an H200
START_S, LOOP_S, END_S = 120, 150, 60  # at most
PLAIN, RECORDED, SIMULATED = 4, 3, 2  # processes that are plain, and that are recorded; there, of either


@dataclasses.dataclass
class Loop:
    name: str
    words: list
    first: int     # iteration that is recorded
    recorded: int

    @property
    def pauses(self):
        """Before the recording begins, and when it has ended."""
        return self.first - 1, self.first + self.recorded + 2


def sb3(algorithm, environment, first, recorded):
    return Loop(f"stable-baselines3 {algorithm}", ["sb3_loop.py", algorithm, environment], first, recorded)


ACTOR_CRITIC = ["torch_actor_critic.py", "--log", "--iterations"]
LOOPS = (
    sb3("PPO", "CartPole-v1", 3, 5),
    sb3("A2C", "CartPole-v1", 8, 36),
    Loop("torch actor-critic", ACTOR_CRITIC, 20, 150),
    sb3("DQN", "CartPole-v1", 80, 900),
    sb3("SAC", "Pendulum-v1", 230, 240),
    sb3("TD3", "Pendulum-v1", 230, 450),
)


@dataclasses.dataclass
class Process:
    program: PausingProgram
    path: object = None  # of its run; None: it is plain
    begins_ns: list = None
    report: dict = None


def run(verdict, machine):
    python = machine.find_python()
    words = [machine.bundle / "bin/gpubound", "calibrate", "--python", python, "--seconds", CALIBRATION_S]
    calibrated = machine.command(words, 200)
    if not verdict.check(calibrated.status == 0, "gpubound calibrate measures", calibrated.describe()):
        return
    verdict.add_report("calibration", calibrated.out)
    loops = [loop for loop in LOOPS if not machine.simulated or loop.words[0] == "sb3_loop.py"]
    processes = {loop.name: [] for loop in loops}
    try:
        for loop in loops:
            for is_recorded in (False, True):
                count = SIMULATED if machine.simulated else RECORDED if is_recorded else PLAIN
                processes[loop.name] += [start(machine, python, loop, is_recorded) for _ in range(count)]
        for loop in loops:
            ready = [one.program.wait_for_pause(1, START_S) for one in processes[loop.name]]
            verdict.check(all(ready), f"{loop.name}: every process is ready")
        order = random.Random(1)
        for loop in loops:
            of_loop = processes[loop.name]
            done = take_turns([one.program for one in of_loop], TURN_S, 2, order, LOOP_S)
            verdict.check(done, f"{loop.name}: every process does its iterations")
            with concurrent.futures.ThreadPoolExecutor(len(of_loop)) as pool:
                list(pool.map(lambda one: finish(machine, one), of_loop))
            judge(verdict, loop, of_loop)
    finally:
        for one in [one for these in processes.values() for one in these]:
            one.program.kill()


def start(machine, python, loop, is_recorded):
    before, behind = loop.pauses
    script, *words = loop.words
    command = [python, machine.bundle / "programs" / script, *words, behind + 1,
               "--pause-before", before, behind]
    if machine.simulated:
        command += ["--device", "cpu"]
    if not is_recorded:
        return Process(PausingProgram(command, machine.variables(), machine.scratch))
    path = machine.new_run_path()
    steps = f"{loop.first}:{loop.first + loop.recorded}"
    command = [machine.bundle / "bin/gpubound", "run", "-q", "-o", path, "--steps", steps, "--", *command]
    return Process(PausingProgram(command, machine.variables(), machine.scratch), path)


def finish(machine, one):
    outcome = one.program.finish(END_S)
    one.begins_ns = account_of(outcome).get("iteration_begins_ns", [])
    if one.path is None:
        return
    recording = Recording(machine, one.path, outcome)
    one.report = max(recording.report["processes"], key=lambda process: process["span_ns"])


def work_of(loop, one):
    """What each iteration of the recording took, those at its ends left out, ns."""
    return one.program.work_ns(one.begins_ns[loop.first + 1:loop.first + loop.recorded])


def saved_of(loop, one):
    """What corrected iterations are shorter by, ns, and what that is uncertain by (95 %)."""
    corrected = one.report["corrected"]
    saved_ns = one.report["span_ns"] - corrected["span_ns"]
    error_ns = (corrected["span_ns_high"] - corrected["span_ns_low"]) / 2
    return saved_ns / loop.recorded, error_ns / loop.recorded


def keep_turns(path, processes):
    """Beside a run that is kept, for a closer look than this one."""
    told = [{"recorded": one.path is not None, "begins_ns": one.begins_ns,
             "turns_ns": one.program.turns_ns} for one in processes]
    (path / "turns.json").write_text(json.dumps(told), encoding="utf-8")


def judge(verdict, loop, processes):
    if not verdict.check(all(len(one.begins_ns or []) >= loop.first + loop.recorded for one in processes),
                         f"{loop.name}: every process tells its iterations"):
        return
    plain = [work_of(loop, one) for one in processes if one.path is None]
    keep_turns(next(one.path for one in processes if one.path is not None), processes)
    verdict.figure(f"{loop.name}, ms an iteration, plain", listed(plain))
    judge_recorded(verdict, loop, loop.name, [one for one in processes if one.path is not None], plain)


def judge_recorded(verdict, loop, what, recorded, plain):
    """|plain|: what the iterations took that were not recorded, ns, of each process."""
    if not verdict.check(all(one.report and one.report["corrected"] for one in recorded), f"{what}: is corrected"):
        return
    begin_ns, end_ns = struct.unpack("qq", next(iter(recorded[0].path.glob("*.steps"))).read_bytes()[:16])
    begins = recorded[0].begins_ns
    verdict.check(begins[loop.first - 1] <= begin_ns <= begins[loop.first + 1] and
                  begins[loop.first + loop.recorded - 1] <= end_ns,
                  f"{what}: the iterations that are compared are recorded ones")
    saved = [saved_of(loop, one) for one in recorded]
    works = [work_of(loop, one) for one in recorded]
    corrected = [[ns - saved_ns for ns in work] for work, (saved_ns, _) in zip(works, saved)]
    verdict.figure(f"{what}, ms an iteration",
                   f"recorded {listed(works)}, corrected {listed(corrected)}, of which 95 % +/- "
                   + " ".join(f"{error_ns / 1e6:.3f}" for _, error_ns in saved))
    verdict.figure(f"{what}, calls by their entries",
                   [one.report["corrected"]["in_run_calibration"]["entries"] for one in recorded])
    verdict.figure(f"{what}, slowdown", compared(map(sum, works), map(sum, plain)))
    verdict.figure(f"{what}, residual", compared(map(sum, corrected), map(sum, plain)))


def listed(works):
    """The mean iteration of each process, ms."""
    return " ".join(f"{sum(work) / len(work) / 1e6:.3f}" for work in works)
