# SPDX-License-Identifier: Apache-2.0
"""A scope as a decorator. A function is wrapped natively. What can be suspended (generators, coroutines,
asynchronous generators) is called at once, so that wrong arguments are refused where they were before,
and what it returns is driven step by step, with its scopes open during each step only: suspended, it
owns nothing."""
import inspect
import sys
import types
from typing import Any, Callable, Optional, Tuple

from gpubound import _core, _roles


class Suspendable:
    """Labels of the scopes that a suspendable function has open, while it is suspended."""

    __slots__ = ("labels",)

    def __init__(self, *labels: int) -> None:
        self.labels: Tuple[int, ...] = labels

    def run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """One step, with the scopes open that were open when the last one ended."""
        depth = _core.depth()
        _core.reopen(self.labels)
        try:
            return step(*arguments)
        finally:
            self.labels = _core.suspend(depth)


class Driven:
    """An iterator or awaitable whose every step runs inside the scopes of a Suspendable."""

    __slots__ = ("_target", "_state")

    def __init__(self, target: Any, state: Suspendable) -> None:
        self._target = target
        self._state = state

    def __await__(self) -> "Driven":
        self._target = self._target.__await__()
        return self

    def __iter__(self) -> "Driven":
        return self

    def __next__(self) -> Any:
        return self._state.run(self._target.send, None)

    def send(self, value: Any) -> Any:
        return self._state.run(self._target.send, value)

    def throw(self, *exception: Any) -> Any:
        return self._state.run(self._target.throw, *exception)

    def close(self) -> None:
        self._state.run(self._target.close)


class DrivenCoroutine(Driven):
    """A coroutine that nobody awaited is warned of once, as the one that drives it."""

    __slots__ = ()

    def __del__(self) -> None:
        self._target.close()


def decorate(scope: _core.Scope, function: Any) -> Any:
    """`function` with `scope` open while it runs; `function` itself where nobody records, which never
    changes within a process. Called by Scope."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(scope, function.__func__))
    if not callable(function) or isinstance(function, type):  # a class would no longer be one
        raise TypeError(f"{scope!r} decorates functions, not {type(function).__name__}")
    if not _core.recording:
        return function
    driven = drive_steps(function, lambda: Suspendable(scope.label))
    if driven is not None:
        return driven
    return _core.wrap(function, scope.label, binds_to_instances(function))


def drive_steps(function: Any, make_state: Callable[[], Suspendable]) -> Optional[Any]:
    """`function`, each step of what a call of it returns run by the state that was made for it; None
    where that cannot be suspended."""
    for is_suspendable, drive in _DRIVERS:
        if is_suspendable(function):
            return _core.watch(function, 0, binds_to_instances(function), _roles.REPLACES,
                               _driving(drive, make_state))
    return None


def binds_to_instances(function: Any) -> bool:
    """Whether `function`, as an attribute of a class, becomes a method of its instances."""
    kind = type(function)
    return hasattr(kind, "__get__") and kind is not types.MethodType


def _driving(drive: Callable[..., Any], make_state: Callable[[], Suspendable]) -> Callable[[Any], Any]:
    """Takes what a call of a suspendable function returned, and returns one of the same kind and name
    that drives it."""
    def drive_by_state(target: Any) -> Any:
        names = target.__name__, target.__qualname__
        driving = drive(target, make_state())
        driving.__name__, driving.__qualname__ = names
        return driving
    return drive_by_state


def _drive_coroutine(coroutine: Any, state: Suspendable) -> Any:
    async def run(driven: Driven) -> Any:
        return await driven
    return run(DrivenCoroutine(coroutine, state))


def _drive_generator(generator: Any, state: Suspendable) -> Any:
    return (yield from Driven(generator, state))


async def _drive_async_generator(source: Any, state: Suspendable) -> Any:
    step = _begin_unseen(source)
    while True:
        try:
            item = await Driven(step, state)
        except StopAsyncIteration:
            return
        try:
            step = source.asend((yield item))
        except GeneratorExit:
            await Driven(source.aclose(), state)
            raise
        except BaseException as error:  # what the consumer throws in is the source's to handle
            step = source.athrow(error)


def _begin_unseen(source: Any) -> Any:
    """The first step of `source`, which the event loop does not know of: it closes what it knows of when it ends,
    and would close this one while the generator that drives it does."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return source.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)


_DRIVERS = ((inspect.isasyncgenfunction, _drive_async_generator),
            (inspect.iscoroutinefunction, _drive_coroutine),
            (inspect.isgeneratorfunction, _drive_generator))
