# SPDX-License-Identifier: Apache-2.0
"""Scopes inside coroutines that asyncio runs: what a task has open when it awaits is closed until it
goes on, so that it does not own the time of the tasks that run meanwhile. What the training loop has
open (`rollout`, `update`) is no task's own and stays. And why a loop goes on that waited. Loops that are
not asyncio's own (uvloop) do not call what is wrapped here."""
import sys
import types
import weakref
from typing import Any, Dict, List, Tuple

from gpubound import _core, _loop, _roles

# By id of the task: labels of its suspended scopes, and what forgets them with it.
_suspended: Dict[int, Tuple[Tuple[int, ...], Any]] = {}


def install(events: Any) -> None:
    """Wraps _run of Handle and TimerHandle of `events`, the module asyncio.events."""
    helper = (_suspended, _resume, _suspend_step, "_callback", "__self__", types.FunctionType)
    run_in_own_scopes = _core.watch(events.Handle._run, 0, True, _roles.STEPS, helper)
    events.Handle._run = run_in_own_scopes
    # Also of a timer that the loop did not have to wait for.
    events.TimerHandle._run = _core.watch(run_in_own_scopes, 0, True, _roles.FINDS_TIME, "_when")


def waker_of(selector: Any, ready: List[Any]) -> Any:
    """What ended a wait of an event loop by `selector`, which found `ready`: the time of a timer, in seconds;
    `selector` where another thread did it; None for what nobody knows."""
    events = sys.modules.get("asyncio.events")
    loop = events._get_running_loop() if events is not None else None
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
    helper: Tuple[Any, ...] = ({}, _resume, _suspend_made, "", "", types.FunctionType)  # resumes nothing
    base_events.BaseEventLoop.create_task = _core.watch(create, 0, True, _roles.STEPS, helper)


def _resume(task: Any) -> None:
    labels, _ = _suspended.pop(id(task))
    _core.reopen(labels)


def _suspend_step(handle: Any, _: Any, kept: int) -> None:
    _suspend(getattr(handle._callback, "__self__", None), kept)


def _suspend_made(_: Any, task: Any, kept: int) -> None:
    _suspend(task, kept)


def _suspend(task: Any, kept: int) -> None:
    left_open = _loop.suspend(kept)
    if left_open and hasattr(task, "get_coro") and not task.done():
        number = id(task)
        _suspended[number] = left_open, weakref.ref(task, lambda _: _suspended.pop(number, None))
