# SPDX-License-Identifier: Apache-2.0
"""Handlers of signals that a program sets. One runs in the middle of whatever the main thread does, in a
wait above all: what it does there (a checkpoint, before the scheduler takes the machine away) is no wait.
The program is given back what it set. Only the main thread sets any."""
import functools
import types
from typing import Any, Callable, Dict, Tuple

from gpubound import _api, _core, _failures, _roles

# By number of the signal: the wrapper that is set, and what the program set.
_set: Dict[int, Tuple[Any, Any]] = {}


def wrap(original: Any, what: str) -> Any:
    """The wrapper of signal.signal, which `sets` a handler and returns the one before, or of
    signal.getsignal, which `gets` it."""
    return _WRAPPERS[what](original)


def _setting(original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def set_handler(signalnum: Any, handler: Any) -> Any:
        running = _running(handler)
        before = original(signalnum, running)
        result = _as_set(signalnum, before)
        _set[int(signalnum)] = running, handler
        return result
    set_handler._gpubound_hook = True  # type: ignore[attr-defined]
    return set_handler


def _getting(original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def get_handler(signalnum: Any) -> Any:
        return _as_set(signalnum, original(signalnum))
    get_handler._gpubound_hook = True  # type: ignore[attr-defined]
    return get_handler


def _running(handler: Any) -> Any:
    """`handler`, whose calls are layer python, and whose waits are its own."""
    if not callable(handler) or isinstance(handler, types.BuiltinFunctionType):
        return handler  # what stands for the default, for none, or only raises KeyboardInterrupt
    return _failures.attempt(handler, "a handler of signals is not hooked", _in_python, handler)


def _in_python(handler: Any) -> Any:
    return _core.watch(handler, _api.layer("python", "signal handler").label, False, _roles.WORKS, None)


def _as_set(signalnum: Any, handler: Any) -> Any:
    wrapper, inner = _set.get(int(signalnum), (None, None))
    return inner if wrapper is handler else handler


_WRAPPERS: Dict[str, Callable[[Any], Any]] = {"sets": _setting, "gets": _getting}
