# SPDX-License-Identifier: Apache-2.0
"""A scope as a decorator. A function is wrapped natively; what can be suspended (generators,
coroutines, asynchronous generators) is driven step by step, with its scopes open during each step
only: suspended, it owns nothing."""
import functools
import inspect
import types
from typing import Any, Callable, Tuple

from gpubound import _core


class Suspendable:
    """Labels of the scopes that a suspendable function has open, while it is suspended."""

    __slots__ = ("labels",)

    def __init__(self, scope: _core.Scope) -> None:
        self.labels: Tuple[int, ...] = (scope.label,)

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


def decorate(scope: _core.Scope, function: Any) -> Any:
    """`function` with `scope` open while it runs. Called by Scope."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(scope, function.__func__))
    if not callable(function) or isinstance(function, type):  # a class would no longer be one
        raise TypeError(f"{scope!r} decorates functions, not {type(function).__name__}")
    if inspect.isasyncgenfunction(function):
        return _decorate_async_generator(scope, function)
    if inspect.iscoroutinefunction(function):
        return _decorate_coroutine(scope, function)
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(scope, function)
    return _core.wrap(function, scope.label, binds_to_instances(function))


def binds_to_instances(function: Any) -> bool:
    """Whether `function`, as an attribute of a class, becomes a method of its instances."""
    kind = type(function)
    return hasattr(kind, "__get__") and kind is not types.MethodType


def _decorate_coroutine(scope: _core.Scope, function: Any) -> Any:
    @functools.wraps(function)
    async def run(*arguments: Any, **keywords: Any) -> Any:
        return await Driven(function(*arguments, **keywords), Suspendable(scope))
    return run


def _decorate_generator(scope: _core.Scope, function: Any) -> Any:
    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return (yield from Driven(function(*arguments, **keywords), Suspendable(scope)))
    return run


def _decorate_async_generator(scope: _core.Scope, function: Any) -> Any:
    @functools.wraps(function)
    async def run(*arguments: Any, **keywords: Any) -> Any:
        source = function(*arguments, **keywords)
        state = Suspendable(scope)
        step = source.asend(None)
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
    return run
