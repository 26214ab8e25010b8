# SPDX-License-Identifier: Apache-2.0
"""Optimizers that are given a closure, which computes the loss and calls backward(): of their operation
it is no part. While it runs, the scopes of the step are closed, so that what it does is seen as it would
be before the step."""
import threading
from typing import Any, Callable, Dict, Tuple

from gpubound import _core, _facts, _roles
from gpubound._decorate import binds_to_instances


class _OfThread(threading.local):
    """Whether a step with a closure is open on the thread, and its closure is not running."""

    steps = False


_of_thread = _OfThread()


def wrap(original: Any, hooked: Any, hook: Dict[str, Any]) -> Any:
    """`hooked`, the wrapper that opens the hook's operation around `original`; with a closure as said above."""
    label = _core.operation_label(_facts.RULES, hook["operation"])

    def step(optimizer: Any, *arguments: Any, **keywords: Any) -> Any:
        closure = keywords.get("closure", arguments[0] if arguments else None)
        if not callable(closure):
            return hooked(optimizer, *arguments, **keywords)
        if _of_thread.steps:  # that of a class which calls its base's, or of another optimizer
            return original(optimizer, *arguments, **keywords)
        apart = _apart(closure, _core.depth())
        if "closure" in keywords:
            keywords["closure"] = apart
        else:
            arguments = (apart,) + arguments[1:]
        _of_thread.steps = True
        _core.begin(label)
        try:
            return original(optimizer, *arguments, **keywords)
        finally:
            _core.end(label)
            _of_thread.steps = False
    return _core.watch(hooked, 0, binds_to_instances(original), _roles.GIVEN, step)


def _apart(closure: Callable[..., Any], kept: int) -> Any:
    """`closure`, with all scopes but the outer `kept` closed while it runs."""
    labels: Tuple[int, ...] = ()

    def begin(*_: Any, **__: Any) -> None:
        nonlocal labels
        labels = _core.suspend(kept)
        _of_thread.steps = False

    def end() -> None:
        nonlocal kept
        kept = _core.depth()  # the first backward() may have opened one around all of them
        _of_thread.steps = True
        _core.reopen(labels)
    followed = _core.watch(closure, 0, False, _roles.FOLLOWS, end)
    return _core.watch(followed, 0, False, _roles.CLOSES, begin)
