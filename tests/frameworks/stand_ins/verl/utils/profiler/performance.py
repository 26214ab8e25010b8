# SPDX-License-Identifier: Apache-2.0
"""The interface of verl 0.9.1's phase timers: where they lie, their names and parameters. verl itself
needs vLLM and GPUs."""
import time
from contextlib import contextmanager


def _measure(name, timing_raw):
    begin = time.perf_counter()
    yield
    timing_raw[name] = timing_raw.get(name, 0) + time.perf_counter() - begin


@contextmanager
def simple_timer(name, timing_raw):
    yield from _measure(name, timing_raw)


@contextmanager
def marked_timer(name, timing_raw, color=None, domain=None, category=None):
    del color, domain, category
    yield from _measure(name, timing_raw)
