# SPDX-License-Identifier: Apache-2.0
"""The phase timers that a framework already calls, as operations: each range has the name that the
framework gives it.

A timer is a function or method made by contextlib.contextmanager, one of whose parameters is the name,
or a class with __enter__ and __exit__ (or __aenter__ and __aexit__, which do nothing to wait for), one of
whose attributes is. The hook's `timer` says which; the range that it calls its `turn` ends an iteration.
"""
import contextlib
import functools
import inspect
from typing import Any, Callable, Dict, Iterator, List, Optional

from gpubound import _core, _facts, _failures, _loop

_NO_NAME = "a timer's range is no operation"


def wrap(original: Any, hook: Dict[str, Any]) -> Any:
    """`original` as it was, with an operation open in each of its ranges."""
    name = getattr(original, "__name__", "")
    if name in ("__enter__", "__aenter__"):
        return _wrap_enter(original, hook["timer"], hook.get("turn"))
    if name in ("__exit__", "__aexit__"):
        return _wrap_exit(original, hook["timer"], hook.get("turn"))
    return _wrap_function(original, hook["timer"], hook.get("turn"))


def _wrap_function(original: Callable[..., Any], parameter: str, turn: Any) -> Any:
    signature = inspect.signature(original)
    if parameter not in signature.parameters:
        raise ValueError(f"{original.__qualname__}() has no parameter {parameter!r}")
    if not hasattr(original, "__wrapped__"):
        raise ValueError(f"{original.__qualname__}() is not made by contextlib.contextmanager")

    def name_of(arguments: Any, keywords: Any) -> str:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        return str(bound.arguments[parameter])

    @contextlib.contextmanager
    def timed(made: List[Any], arguments: Any, keywords: Any) -> Iterator[Any]:
        # As a decorator it is entered once for each call, each time with a range of its own.
        range_ = made.pop() if made else original(*arguments, **keywords)
        name = _failures.attempt(None, _NO_NAME, name_of, arguments, keywords)
        with _in_range(name, turn), range_ as value:
            yield value
        _end_turn(name, turn)

    @functools.wraps(original)
    def make(*arguments: Any, **keywords: Any) -> Any:
        return timed([original(*arguments, **keywords)], arguments, keywords)
    make._gpubound_hook = True  # type: ignore[attr-defined]
    return make


def _wrap_enter(original: Callable[..., Any], attribute: str, turn: Any) -> Any:
    @functools.wraps(original)
    def enter(timer: Any, *arguments: Any, **keywords: Any) -> Any:
        name = _name_in(timer, attribute)
        _begin(name, turn)
        try:
            return original(timer, *arguments, **keywords)
        except BaseException:
            _end(name, turn)
            raise
    enter._gpubound_hook = True  # type: ignore[attr-defined]
    return enter


def _wrap_exit(original: Callable[..., Any], attribute: str, turn: Any) -> Any:
    @functools.wraps(original)
    def leave(timer: Any, *exception: Any, **keywords: Any) -> Any:
        name = _name_in(timer, attribute)
        try:
            return original(timer, *exception, **keywords)
        finally:
            _end(name, turn)
            _end_turn(name, turn)
    leave._gpubound_hook = True  # type: ignore[attr-defined]
    return leave


def _name_in(timer: Any, attribute: str) -> Optional[str]:
    """None where it cannot be found out."""
    name: Optional[str] = _failures.attempt(None, _NO_NAME, lambda: str(getattr(timer, attribute)))
    return name


@contextlib.contextmanager
def _in_range(name: Optional[str], turn: Any) -> Iterator[None]:
    _begin(name, turn)
    try:
        yield
    finally:
        _end(name, turn)


def _begin(name: Optional[str], turn: Any) -> None:
    if name is not None:
        _core.begin(_label_of(name, turn))


def _end(name: Optional[str], turn: Any) -> None:
    if name is not None:
        _core.end(_label_of(name, turn))


def _label_of(name: str, turn: Any) -> int:
    return _core.operation_label(_facts.TURN if name == turn else _facts.RULES, name)


def _end_turn(name: Optional[str], turn: Any) -> None:
    if name is not None and name == turn:
        _failures.attempt(None, "the iteration is not ended", _loop.end_turn)
