# SPDX-License-Identifier: Apache-2.0
"""When the iterations of a program began, on the clock that gpubound's window of iterations is on
(CLOCK_MONOTONIC), and the gate through which only one program at a time goes into its loop: others load
their libraries meanwhile and do not lie beside what is measured."""
import fcntl
import json
import time


class IterationLog:
    def __init__(self, gate):
        """`gate`: a file that this process keeps locked from open_gate() until it ends; None: no gate."""
        self._gate = open(gate, "a", encoding="utf-8") if gate else None
        self._begins_ns = []

    def open_gate(self):
        if self._gate:
            fcntl.flock(self._gate, fcntl.LOCK_EX)

    def begin(self):
        """An iteration begins here, and so the one before it ends."""
        self._begins_ns.append(time.monotonic_ns())
        return len(self._begins_ns)

    def say(self):
        print(json.dumps({"iteration_begins_ns": self._begins_ns}))
