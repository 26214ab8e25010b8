# SPDX-License-Identifier: Apache-2.0
"""Plays parts of a study, each of which is a variant at a size: PROGRAM CLOCKS REPETITIONS SECONDS PART...

Each part is prepared, and then played REPETITIONS times in an order drawn by chance: in a phase that is called by the
part and the repetition, for about SECONDS of CPU time.

The program keeps clocks of its own, and writes them to the file CLOCKS as JSON. `phases` has for each, by iteration,
`end_ns` (CLOCK_MONOTONIC, as the recorder's) and `simulation_ns`, `cpu_ns` of the thread for all of them, and the
`env_steps` of one; `states` has of each part the first environment's after the first iteration, by which variants can
be compared; `facts` what else the program says of the part.
"""
import json
import random
import sys
from time import monotonic_ns, thread_time_ns

import gpubound

LEAST_ITERATIONS = 20


class Part:
    """`play(state, given)` returns the next state and is called for each of `given` in an iteration, which has
    `env_steps` of all environments; `first_of(state)` are the numbers of the first environment."""

    def __init__(self, name, env_steps, states, given, play, first_of, facts=None):
        self.name, self.env_steps, self.facts = name, env_steps, facts
        self.states, self.given, self.play = states, given, play
        self.iterate()  # compiles
        self.first = [float(value) for value in first_of(self.states)[:4]]
        begin_ns = thread_time_ns()
        self.iterate()
        self.one_ns = thread_time_ns() - begin_ns

    def iterate(self):
        """An iteration. Returns how long the simulator took, by a clock that is read outside of the operation."""
        simulation_ns = 0
        for now in self.given:
            begin_ns = monotonic_ns()
            with gpubound.operation("simulation"):
                self.states = self.play(self.states, now)
            simulation_ns += monotonic_ns() - begin_ns
        return simulation_ns

    def repeat(self, seconds):
        """So many iterations as should take so long. The thread's CPU time is read before and after them alone: that
        is a system call, at whose end a thread loses its core rather than elsewhere."""
        clocks = {"end_ns": [], "simulation_ns": [], "env_steps": self.env_steps, "cpu_ns": -thread_time_ns()}
        for _ in range(max(LEAST_ITERATIONS, round(seconds * 1e9 / self.one_ns))):
            simulation_ns = self.iterate()
            gpubound.step(env_steps=self.env_steps)
            clocks["end_ns"].append(monotonic_ns())
            clocks["simulation_ns"].append(simulation_ns)
        clocks["cpu_ns"] += thread_time_ns()
        return clocks


def main(part_of):
    """`part_of(name)` prepares a part."""
    repetitions, seconds = int(sys.argv[2]), float(sys.argv[3])
    parts = [part_of(name) for name in sys.argv[4:]]
    order = [(part, repetition) for part in parts for repetition in range(1, repetitions + 1)]
    random.Random(1).shuffle(order)
    phases = {}
    for part, repetition in order:
        phase = f"{part.name} {repetition}"
        with gpubound.phase(phase):
            phases[phase] = part.repeat(seconds)
    with open(sys.argv[1], "w") as file:
        json.dump({"phases": phases, "states": {part.name: part.first for part in parts},
                   "facts": {part.name: part.facts for part in parts}}, file)
