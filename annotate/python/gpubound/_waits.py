# SPDX-License-Identifier: Apache-2.0
"""Whom a wait is for. A process cannot tell who holds the other end of a pipe, so it says on which end
it waits, which ends it uses, and which belong together; a reader of the run puts that together
(docs/python.md). Where the awaited process itself is known, its pid is said.

The functions here are asked before a call, with its arguments, and return the label of the wait: 0 for
that of the call's name, None where the call does not block. What they raise is dropped."""
import functools
import os
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from gpubound import _api, _asyncio, _core, _ray, _roles

_MAX_LABELS = 1024
_labels: Dict[str, int] = {}  # by the words that they stand for


def _label_of(words: Iterable[str]) -> int:
    text = " ".join(words)
    if not text:
        return 0
    label = _labels.get(text)
    if label is None:
        label = _core.wait_label(text)
        if len(_labels) < _MAX_LABELS:
            _labels[text] = label
    return label


def _of_pids(pids: Iterable[Optional[int]]) -> int:
    return _label_of(f"process:[{pid}]" for pid in pids if pid)


def for_process(process: Any, *_: Any, **__: Any) -> int:
    """Of a method of something that has a pid."""
    return _of_pids((process.pid,))


def for_pid(pid: int, options: int = 0) -> Optional[int]:
    """Of os.waitpid."""
    return None if options & os.WNOHANG else _of_pids((pid,) if pid > 0 else ())


def for_objects(object_list: Any, timeout: Optional[float] = None) -> int:
    """Of multiprocessing.connection.wait: connections, sentinels of processes, and others, for which
    there is no name."""
    if not isinstance(object_list, (list, tuple, set, frozenset, dict)):
        return 0  # may be an iterator, which is the program's to consume
    words: List[str] = []
    sentinels: Optional[Dict[int, Optional[int]]] = None
    for item in object_list:
        if isinstance(item, int):
            sentinels = _sentinels() if sentinels is None else sentinels
            name = f"process:[{sentinels[item]}]" if item in sentinels else None
        else:
            name = _core.channel_name(item)
        if name is not None:
            words.append(name)
    return _label_of(sorted(words))


def _sentinels() -> Dict[int, Optional[int]]:
    children = sys.modules["multiprocessing.process"]._children
    return {child.sentinel: child.pid for child in list(children)}


def for_pool(result: Any, *_: Any, **__: Any) -> int:
    """Of results of a multiprocessing.Pool: whichever worker has the task."""
    pool = getattr(result, "_pool", None)  # none any more when the result is there
    if pool is None:
        return 0
    return _of_pids(sorted(worker.pid for worker in list(pool._pool)))


def for_lock(block: Any = True, timeout: Any = None) -> Optional[int]:
    """Of acquire() of a lock or semaphore of multiprocessing."""
    return 0 if block else None


def for_references(object_refs: Any, *_: Any, timeout: Optional[float] = None, **__: Any) -> Optional[int]:
    """Of ray.get and ray.wait: the actors whose methods make the objects, or the workers that have tasks."""
    if timeout == 0:
        return None
    references = object_refs if isinstance(object_refs, (list, tuple)) else (object_refs,)
    return _label_of(_ray.makers_of(references))


def note_ends(ends: Tuple[Any, Any]) -> None:
    """Called with what multiprocessing.connection.Pipe returned."""
    _core.note_channel_ends(*ends)


# What the wrapper does, and who is asked.
_Role = Tuple[int, Any]
_PLAIN: _Role = (_roles.WAITS, None)
PEERS: Dict[str, _Role] = {
    "connection": (_roles.RECEIVES, None), "objects": (_roles.WAITS, for_objects),
    "process": (_roles.WAITS, for_process), "pid": (_roles.WAITS, for_pid),
    "pool": (_roles.WAITS, for_pool), "lock": (_roles.WAITS, for_lock),
    "references": (_roles.WAITS, for_references), "thread": (_roles.AWAITS, None),
    "event loop": (_roles.AWAITS, _asyncio.waker_of)}
CHANNELS: Dict[str, _Role] = {"written": (_roles.WRITES, None), "made": (_roles.MAKES, None),
                              "ends": (_roles.RETURNS, note_ends)}
# Threads of this process that wait for the first argument, or come for it later: those among its
# `_waiters`, those that join it, any, the one that takes it up; those that get from the queue that it is,
# and put into it; the one that runs the event loop, at once or at the time of the timer that it is given.
_QUEUE = ("queue", "maxsize")
THREADS: Dict[str, _Role] = {"waiters": (_roles.WAKES, "_waiters"), "joiners": (_roles.ENDS, None),
                             "all": (_roles.WAKES, None), "taken up": (_roles.STARTS, None),
                             "found": (_roles.FINDS, None), "getters": (_roles.PUTS, _QUEUE),
                             "putters": (_roles.TAKES, _QUEUE),
                             "event loop": (_roles.WAKES_ITS_OWN, "_selector"),
                             "timer": (_roles.SETS_TIME, "_when")}


def watch(original: Any, name: str, binds: bool, hook: Dict[str, Any]) -> Any:
    """The wrapper for a hook with layer wait, whose `peer` says how to find out whom the wait is for; with
    a `channel`: what the call does to a connection; or that `wakes` threads, and says which. Where the
    hook says what the call `sets`, it is those attributes that wait."""
    if "channel" in hook or "wakes" in hook:
        role, helper = CHANNELS[hook["channel"]] if "channel" in hook else THREADS[hook["wakes"]]
        return _core.watch(original, 0, binds, role, helper)
    role, helper = PEERS[hook["peer"]] if "peer" in hook else _PLAIN
    if "calls" in hook:
        return _watch_what_it_calls(original, name, hook["calls"], role, helper)
    if "sets" in hook:
        return _watch_what_it_sets(original, name.rpartition(".")[0], hook["sets"], role, helper)
    return _core.watch(original, _api.layer("wait", name).label, binds, role, helper)


def _watch_what_it_sets(original: Any, owner: str, names: List[str], role: int,
                        helper: Optional[Callable[..., Any]]) -> Any:
    """For a method that gives its object native methods of another one as attributes."""
    @functools.wraps(original)
    def set_methods(target: Any) -> None:
        original(target)
        for name in names:
            label = _api.layer("wait", f"{owner}.{name}").label
            setattr(target, name, _core.watch(getattr(target, name), label, False, role, helper))
    set_methods._gpubound_hook = True  # type: ignore[attr-defined]
    return set_methods


class _Waited:
    """Stands for an object of which only the given attributes are used, which wait."""

    def __init__(self, attributes: Dict[str, Any]) -> None:
        self.__dict__.update(attributes)


def _watch_what_it_calls(original: Any, name: str, names: List[str], role: int,
                         helper: Optional[Callable[..., Any]]) -> Any:
    """For a function that waits in native methods of its first argument, which cannot be changed, and uses
    nothing else of it."""
    label = _api.layer("wait", name).label

    @functools.wraps(original)
    def call(target: Any, *arguments: Any, **keywords: Any) -> Any:
        methods = {method: _core.watch(getattr(target, method), label, False, role, helper) for method in names}
        return original(_Waited(methods), *arguments, **keywords)
    call._gpubound_hook = True  # type: ignore[attr-defined]
    return call
