# SPDX-License-Identifier: Apache-2.0
"""When the iterations of a program began, on the clock that gpubound's window of iterations is on
(CLOCK_MONOTONIC), and pauses before some of them."""
import json
import os
import signal
import time


class IterationLog:
    def __init__(self, pause_before=()):
        """|pause_before|: iterations, from 1, before which the program says so and stops itself."""
        self._begins_ns = []
        self._pause_before = frozenset(pause_before)

    def begin(self):
        """An iteration begins here, and so the one before it ends."""
        if len(self._begins_ns) + 1 in self._pause_before:
            self._say(paused_before=len(self._begins_ns) + 1, pid=os.getpid())
            os.kill(os.getpid(), signal.SIGSTOP)
        self._begins_ns.append(time.monotonic_ns())
        return len(self._begins_ns)

    def say(self):
        self._say(iteration_begins_ns=self._begins_ns)

    @staticmethod
    def _say(**facts):
        print(json.dumps(facts), flush=True)
