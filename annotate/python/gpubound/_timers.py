# SPDX-License-Identifier: Apache-2.0
"""The phase timers that a framework already calls, as operations: each range has the name that the
framework gives it.

A timer is a function or method made by contextlib.contextmanager, one of whose parameters is the name,
or a class with __enter__ and __exit__, one of whose attributes is. The hook's `timer` says which; the
range that it calls its `turn` ends an iteration.
"""
import contextlib
import functools
import inspect
from typing import Any, Callable, Dict, Iterator

from gpubound import _core, _loop


def wrap(original: Any, hook: Dict[str, Any]) -> Any:
    """`original` as it was, with an operation open in each of its ranges."""
    name = getattr(original, "__name__", "")
    if name == "__enter__":
        return _wrap_enter(original, hook["timer"])
    if name == "__exit__":
        return _wrap_exit(original, hook["timer"], hook.get("turn"))
    return _wrap_function(original, hook["timer"], hook.get("turn"))


def _wrap_function(original: Callable[..., Any], parameter: str, turn: Any) -> Any:
    signature = inspect.signature(original)
    if parameter not in signature.parameters:
        raise ValueError(f"{original.__qualname__}() has no parameter {parameter!r}")
    if not hasattr(original, "__wrapped__"):
        raise ValueError(f"{original.__qualname__}() is not made by contextlib.contextmanager")

    @contextlib.contextmanager
    def timed(*arguments: Any, **keywords: Any) -> Iterator[Any]:
        name = str(signature.bind(*arguments, **keywords).arguments[parameter])
        with _core.operation(name), original(*arguments, **keywords) as value:
            yield value
        if name == turn:
            _loop.end_turn()

    @functools.wraps(original)
    def make(*arguments: Any, **keywords: Any) -> Any:
        signature.bind(*arguments, **keywords)  # fails where the original would
        return timed(*arguments, **keywords)
    make._gpubound_hook = True  # type: ignore[attr-defined]
    return make


def _wrap_enter(original: Callable[..., Any], attribute: str) -> Any:
    @functools.wraps(original)
    def enter(timer: Any) -> Any:
        scope = _core.operation(str(getattr(timer, attribute)))
        scope.__enter__()
        try:
            return original(timer)
        except BaseException:
            scope.__exit__()
            raise
    enter._gpubound_hook = True  # type: ignore[attr-defined]
    return enter


def _wrap_exit(original: Callable[..., Any], attribute: str, turn: Any) -> Any:
    @functools.wraps(original)
    def leave(timer: Any, *exception: Any) -> Any:
        name = str(getattr(timer, attribute))
        try:
            return original(timer, *exception)
        finally:
            _core.operation(name).__exit__()
            if name == turn:
                _loop.end_turn()
    leave._gpubound_hook = True  # type: ignore[attr-defined]
    return leave
