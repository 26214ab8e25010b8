# SPDX-License-Identifier: Apache-2.0
"""Scopes inside coroutines that asyncio runs: what a task has open when it awaits is closed until it
goes on, so that it does not own the time of the tasks that run meanwhile."""
import weakref
from typing import Any, MutableMapping, Tuple

from gpubound import _core


def install(events: Any) -> None:
    """Wraps Handle._run of `events`, the module asyncio.events. Loops that are not asyncio's own
    (uvloop) do not call it."""
    run = events.Handle._run
    suspended: MutableMapping[Any, Tuple[int, ...]] = weakref.WeakKeyDictionary()

    def run_in_own_scopes(handle: Any) -> Any:
        # A task's steps are methods bound to it, whether it is written in C or in Python.
        task = getattr(handle._callback, "__self__", None)
        labels = suspended.pop(task, None) if hasattr(task, "get_coro") else None
        depth = _core.depth()
        if labels:
            _core.reopen(labels)
        try:
            return run(handle)
        finally:
            left_open = _core.suspend(depth)
            if left_open and hasattr(task, "done") and not task.done():
                suspended[task] = left_open

    run_in_own_scopes.__wrapped__ = run  # type: ignore[attr-defined]
    events.Handle._run = run_in_own_scopes
