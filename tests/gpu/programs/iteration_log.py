# SPDX-License-Identifier: Apache-2.0
"""When the iterations of a program began, on the clock that gpubound's window of iterations is on
(CLOCK_MONOTONIC)."""
import json
import time


class IterationLog:
    def __init__(self):
        self._begins_ns = []

    def begin(self):
        """An iteration begins here, and so the one before it ends."""
        self._begins_ns.append(time.monotonic_ns())
        return len(self._begins_ns)

    def say(self):
        print(json.dumps({"iteration_begins_ns": self._begins_ns}))
