# SPDX-License-Identifier: Apache-2.0
"""What each kind of CUPTI's records costs a training loop, which is the floor of what a profiler can cost: of a
client that throws its records away (programs/cupti_client.cc), beside gpubound and nothing, in processes
that take turns. Tells which records are worth their price.
On the simulated device: stable-baselines3 on the CPU, which has no calls of CUDA to record."""
import random
import statistics

from harness.recording import account_of
from harness.turns import PausingProgram, compared, take_turns

TITLE = "what each kind of CUPTI's records costs a training loop"

TURN_S = 0.07
START_S, LOOP_S, END_S = 240, 200, 60  # at most
PROCESSES, PROCESSES_SIMULATED = 3, 2  # of each way
WARM_UP, ITERATIONS = 20, 150
NOTHING = "nothing"
GPUBOUND = "gpubound"
WAYS = {
    NOTHING: None,
    "kernels": "kernel",
    "kernels, copies, sets": "kernel,copy",
    "kernels, copies, sets, five functions": "kernel,copy,frequent",
    "kernels, copies, sets, callbacks of these five": "kernel,copy,callbacks",
    "these five alone": "frequent",
    "callbacks of these five alone": "callbacks",
    "kernels, copies, sets, all of the runtime": "kernel,copy,runtime",
    GPUBOUND: None,
}


def run(verdict, machine):
    python = machine.find_python()
    client = machine.build_injection("cupti_client")
    for way, records in WAYS.items():
        if records is not None:
            ended = machine.command([machine.build("calls"), 1000], **asking(client, records))
            verdict.check(ended.status == 0 and f"cupti_client: {records}" in ended.err,
                          f"{way}: the client works", ended.describe())
    count = PROCESSES_SIMULATED if machine.simulated else PROCESSES
    processes = {way: [start(machine, python, client, way) for _ in range(count)] for way in WAYS}
    every = [one for of_way in processes.values() for one in of_way]
    try:
        if not verdict.check(all([one.wait_for_pause(1, START_S) for one in every]), "every process is ready"):
            return
        verdict.check(take_turns(every, TURN_S, 2, random.Random(1), LOOP_S), "every process does its iterations")
        works = {way: [work_ms(one) for one in of_way] for way, of_way in processes.items()}
    finally:
        for one in every:
            one.kill()
    if not verdict.check(all(all(these) for these in works.values()), "every process tells its iterations"):
        return
    for way, these in works.items():
        verdict.figure(f"{way}, ms an iteration",
                       f"{' '.join(f'{ms:.3f}' for ms in these)}: {compared(these, works[NOTHING])}")


def asking(client, records):
    return {"CUDA_INJECTION64_PATH": client, "CUPTI_CLIENT_RECORDS": records}


def start(machine, python, client, way):
    loop = ["torch_actor_critic.py", "--log", "--iterations"]
    if machine.simulated:
        loop = ["sb3_loop.py", "A2C", "CartPole-v1"]
    last = WARM_UP + ITERATIONS
    command = [python, machine.bundle / "programs" / loop[0], *loop[1:], last + 1, "--pause-before", WARM_UP, last]
    if machine.simulated:
        command += ["--device", "cpu"]
    changes = {} if WAYS[way] is None else asking(client, WAYS[way])
    if way == GPUBOUND:
        command = [machine.bundle / "bin/gpubound", "run", "-q", "--no-calibrate", "-o",
                   machine.new_run_path(), "--", *command]
    return PausingProgram(command, machine.variables(**changes), machine.scratch)


def work_ms(program):
    """The mean of an iteration; 0: the program has not told them."""
    begins = account_of(program.finish(END_S)).get("iteration_begins_ns", [])[WARM_UP:WARM_UP + ITERATIONS - 1]
    return statistics.fmean(program.work_ns(begins)) / 1e6 if len(begins) > 1 else 0
