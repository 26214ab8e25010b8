# SPDX-License-Identifier: Apache-2.0
"""Scopes inside coroutines that asyncio runs: what a task has open when it awaits is closed until it
goes on, so that it does not own the time of the tasks that run meanwhile. What the training loop has
open (`rollout`, `update`) is no task's own and stays. Loops that are not asyncio's own (uvloop) do not
call what is wrapped here."""
import functools
import weakref
from typing import Any, MutableMapping, Tuple

from gpubound import _core, _loop

_suspended: MutableMapping[Any, Tuple[int, ...]] = weakref.WeakKeyDictionary()  # by task


def install(events: Any) -> None:
    """Wraps Handle._run of `events`, the module asyncio.events."""
    run = events.Handle._run

    def run_in_own_scopes(handle: Any) -> Any:
        # A task's steps are methods bound to it, whether it is written in C or in Python.
        task = getattr(handle._callback, "__self__", None)
        labels = _suspended.pop(task, None) if hasattr(task, "get_coro") else None
        depth = _loop.depth()
        if labels:
            _core.reopen(labels)
        try:
            return run(handle)
        finally:
            _suspend(depth, task)

    run_in_own_scopes.__wrapped__ = run  # type: ignore[attr-defined]
    events.Handle._run = run_in_own_scopes


def install_for_eager_tasks(base_events: Any) -> None:
    """Wraps BaseEventLoop.create_task of `base_events`, the module asyncio.base_events: from Python 3.12 on a
    task may take its first step in the call that creates it, within the step of another one."""
    create = base_events.BaseEventLoop.create_task

    @functools.wraps(create)
    def create_task(*arguments: Any, **keywords: Any) -> Any:
        depth = _loop.depth()
        task = create(*arguments, **keywords)
        _suspend(depth, task)
        return task
    base_events.BaseEventLoop.create_task = create_task


def _suspend(depth: int, task: Any) -> None:
    left_open = _loop.suspend(depth)
    if left_open and hasattr(task, "done") and not task.done():
        _suspended[task] = left_open
