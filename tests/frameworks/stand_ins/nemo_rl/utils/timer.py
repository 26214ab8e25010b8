# SPDX-License-Identifier: Apache-2.0
"""The interface of NeMo-RL's phase timers: where they lie, their names and parameters. NeMo-RL is not on
PyPI."""
import threading
from contextlib import contextmanager


class Timer:
    def __init__(self):
        self.labels = []

    def start(self, label, should_log=True):
        del should_log
        self.labels.append(label)

    @contextmanager
    def time(self, label, should_log=True):
        self.start(label, should_log)
        yield


class ThreadSafeTimer(Timer):
    def __init__(self):
        super().__init__()
        self._lock = threading.RLock()

    @contextmanager
    def time(self, label, should_log=True):
        with self._lock:
            self.start(label, should_log)
        yield
