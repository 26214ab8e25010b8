# SPDX-License-Identifier: Apache-2.0
"""What XLA's CPU backend makes of a compiled function: the text of its optimised HLO, read."""
import re
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple

import study


class Instruction(NamedTuple):
    opcode: str
    line: str


# They run nothing of their own.
FREE = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
COMPUTATION = re.compile(r"(ENTRY )?%(\S+) \(.*\{")
INSTRUCTION = re.compile(r"\s+(?:ROOT )?%\S+ = (?:\(.*?\)|\S+) ([a-z][\w-]*)\(.*")
USED = re.compile(r"\b(?:calls|to_apply|body|condition)=%([^\s,]+)")


class Module:
    """Its computations, and what is executed of them."""

    def __init__(self, text: str) -> None:
        self.computations: Dict[str, List[Instruction]] = {}
        self.entry = ""
        within = ""
        for line in text.splitlines():
            if found := COMPUTATION.match(line):
                within = found[2]
                self.entry = within if found[1] else self.entry
                self.computations[within] = []
            elif found := INSTRUCTION.match(line):
                self.computations[within].append(Instruction(found[1], line))

    def executed(self, computation: str = "", times: int = 1) -> Iterator[Tuple[Instruction, int]]:
        """Kernels and copies, and how often each runs in a call. A loop's body and condition run as often as it says; a
        small computation that is called is one kernel, which XLA's CPU backend marks so."""
        for instruction in self.computations[computation or self.entry]:
            line = instruction.line
            if "outer_dimension_partitions" in line:
                raise study.Failed(f"XLA divides a kernel between threads, expected one thread: {line}")
            if instruction.opcode == "while":
                trips = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
                if not trips:
                    raise study.Failed(f"a loop does not say how often it runs: {line}")
                for key, runs in (("body", int(trips[1])), ("condition", int(trips[1]) + 1)):
                    yield from self.executed(re.findall(rf"\b{key}=%([^\s,]+)", line)[0], times * runs)
            elif instruction.opcode == "call" and 'xla_cpu_small_call="true"' not in line:
                yield from self.executed(USED.findall(line)[0], times)
            elif instruction.opcode not in FREE:
                yield instruction, times

    def within(self, instruction: Instruction) -> List[Instruction]:
        """Of a kernel, the instructions that do something."""
        used = USED.findall(instruction.line)
        if not used:
            return [instruction]
        return [inner for name in used for of in self.computations[name] for inner in self.within(of)
                if inner.opcode not in FREE]

    def scopes(self, instruction: Instruction) -> Set[str]:
        """In which the instructions of a kernel were traced: jax.named_scope, and what JAX itself opens."""
        return {scope for of in self.within(instruction) for name in re.findall(r'op_name="([^"]*)"', of.line)
                for scope in name.split("/")}
