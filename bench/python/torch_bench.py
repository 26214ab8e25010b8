#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counting PyTorch's calls costs: a function, a method and an operator on a tensor of one element,
with and without their wrappers, in one process. Exits 1 where a wrapper adds more than the goal.

    gpubound run -q -- PYTHON bench/python/torch_bench.py        # under a collector

PYTHON has torch and, under `gpubound run`, finds the package by itself.
"""
import itertools
import sys
import time

import torch

import gpubound
from gpubound import _core

ROUNDS, CALLS, GOAL_NS = 11, 20_000, 60.0


VALUE = torch.ones(1)


class Subject:
    """One way to call PyTorch, and where its callable lies."""

    def __init__(self, holder, name, call):
        found = getattr(holder, name)
        self._holder, self._name, self.call = holder, name, call
        self._plain = _core.wrapped(found) or found
        self._counted = found if found is not self._plain else _core.wrap(
            found, gpubound.layer("backend", name).label, isinstance(holder, type))

    def ns(self, counted):
        """CPU time of a call, in one round."""
        setattr(self._holder, self._name, self._counted if counted else self._plain)
        begin = time.thread_time_ns()
        self.call(itertools.repeat(None, CALLS))
        return (time.thread_time_ns() - begin) / CALLS


SUBJECTS = {
    "function": Subject(torch, "add", lambda items: [torch.add(VALUE, VALUE) for _ in items]),
    "method": Subject(torch.Tensor, "mul", lambda items: [VALUE.mul(VALUE) for _ in items]),
    "operator": Subject(torch.Tensor, "__add__", lambda items: [VALUE + VALUE for _ in items]),
}


def main():
    torch.set_num_threads(1)
    missed = 0
    print(f"torch {torch.__version__}, {'under' if gpubound.recording() else 'without'} a collector")
    with torch.no_grad():
        for name, subject in SUBJECTS.items():
            # The least disturbed round of each; they take turns, so that both meet the same machine.
            rounds = [(subject.ns(False), subject.ns(True)) for _ in range(ROUNDS)]
            plain, counted = map(min, zip(*rounds))
            missed += counted - plain > GOAL_NS
            print(f"  {name:9} {plain:7.1f} ns, counted {counted:7.1f} ns: {counted - plain:+.1f}, "
                  f"goal {GOAL_NS:.0f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
