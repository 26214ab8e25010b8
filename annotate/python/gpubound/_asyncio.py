# SPDX-License-Identifier: Apache-2.0
"""Scopes inside coroutines that asyncio runs: what a task has open when it awaits is closed until it
goes on, so that it does not own the time of the tasks that run meanwhile. What the training loop has
open (`rollout`, `update`) is no task's own and stays. And why a loop goes on that waited. Loops that are
not asyncio's own (uvloop) do not call what is wrapped here."""
import functools
import weakref
import sys
from typing import Any, List, MutableMapping, Tuple

from gpubound import _core, _loop, _roles

_suspended: MutableMapping[Any, Tuple[int, ...]] = weakref.WeakKeyDictionary()  # by task


def install(events: Any) -> None:
    """Wraps _run of Handle and TimerHandle of `events`, the module asyncio.events."""
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
    # Also of a timer that the loop did not have to wait for.
    events.TimerHandle._run = _core.watch(run_in_own_scopes, 0, True, _roles.FINDS_TIME, "_when")


def waker_of(selector: Any, ready: List[Any]) -> Any:
    """What ended a wait of an event loop by `selector`, which found `ready`: the time of a timer, in seconds;
    `selector` where another thread did it; None for what nobody knows."""
    events = sys.modules.get("asyncio.events")
    loop = events._get_running_loop() if events is not None else None  # type: ignore[attr-defined]
    if loop is None or getattr(loop, "_selector", None) is not selector:
        return None
    if ready:
        by_thread = loop._ssock.fileno()
        return selector if any(key.fd == by_thread for key, _ in ready) else None
    if not loop._scheduled or loop._ready:
        return None
    when = loop._scheduled[0]._when
    return when if when < loop.time() + loop._clock_resolution else None


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
