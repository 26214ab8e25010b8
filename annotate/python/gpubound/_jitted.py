# SPDX-License-Identifier: Apache-2.0
"""Programs whose work is done by jitted functions: what jax.jit returns.

Every call of one is layer backend. A function of the program's own, called outside of every other
operation, is also an operation of its name, and so is waiting for its results, because its work is only
begun by the call. A function called as training steps are (`turns` of the hook) ends the iteration
before; in a program that steps environments, it begins `update`. One that steps an environment written in
JAX (`simulates`) is what the step of any other environment is.
"""
import fnmatch
import functools
import re
import sys
import threading
import weakref
from typing import Any, Dict, List, MutableMapping, Optional, Set, Tuple

from gpubound import _api, _core, _facts, _failures, _loop
from gpubound._decorate import binds_to_instances

_MAX_SCOPES = 4096  # a program that makes up a name each time has no operations by them


class _Last(threading.local):
    """Label of the function that a thread called last."""

    label: Optional[int] = None


_last = _Last()
_anywhere: List[Optional[int]] = [None]  # what any thread did, for one that called none


def wrap_maker(original: Any, hook: Dict[str, Any]) -> Any:
    """For the function that makes jitted functions of Python functions."""
    foreign: List[str] = hook["foreign"]  # packages whose functions are no operations
    turns: List[str] = hook["turns"]
    simulates = frozenset(hook.get("simulates", ()))

    def hooked(jitted: Any, function: Any) -> Any:
        function, name = _called(function)
        counted = _core.wrap(jitted, _api.layer(hook["layer"], name).label, binds_to_instances(jitted))
        if simulates & _origins(function):
            return _as_simulation(counted, name)
        if _is_foreign(function, foreign):
            return counted
        return _as_operation(counted, name, _is_turn(name, turns))

    @functools.wraps(original)
    def make(function: Any, *arguments: Any, **keywords: Any) -> Any:
        jitted = original(function, *arguments, **keywords)
        return _failures.attempt(jitted, "a jitted function is not hooked", hooked, jitted, function)
    make._gpubound_hook = True  # type: ignore[attr-defined]
    return make


def wrap_compiled(original: Any, hook: Dict[str, Any]) -> Any:
    """For the call of what a program compiles ahead of time (`jitted.lower(...).compile()`). The compiler
    knows the name of the function; an object keeps what its calls are, which refers to no object, so that
    its memory is freed when it was."""
    def hooked(compiled: Any) -> Any:
        name = re.sub("^(jit|pmap)_", "", compiled.runtime_executable().hlo_modules()[0].name)
        name = "<lambda>" if name in ("_lambda", "_lambda_") else name  # as the compiler writes it
        counted = _core.wrap(original, _api.layer(hook["layer"], name).label, False)
        compiled._gpubound_call = _as_operation(counted, name, _is_turn(name, hook["turns"]))
        return compiled._gpubound_call

    @functools.wraps(original)
    def call(compiled: Any, *arguments: Any, **keywords: Any) -> Any:
        calls = getattr(compiled, "_gpubound_call", None)
        if calls is None:
            calls = _failures.attempt(original, "a compiled function is not hooked", hooked, compiled)
        return calls(compiled, *arguments, **keywords)
    call._gpubound_hook = True  # type: ignore[attr-defined]
    return call


def wrap_call(original: Any, hook: Dict[str, Any]) -> Any:
    """For the call of a class whose objects are the program's jitted functions (tf.function). What it executes is
    layer backend by itself. `unless`: a call within the trace of another one is a part of that. No scope of ours
    is open around the trace that would keep other hooks from asking the same."""
    module, _, name = hook["unless"].rpartition(".")
    is_traced = getattr(sys.modules[module], name)
    labels: MutableMapping[Any, Tuple[int, bool]] = weakref.WeakKeyDictionary()

    def label_of(jitted: Any) -> Tuple[int, bool]:
        function, name = _called(jitted.python_function)
        is_turn = _is_turn(name, hook["turns"])
        label = 0 if _is_foreign(function, hook["foreign"]) else _label(name, is_turn)
        return labels.setdefault(jitted, (label, is_turn))

    def begin(jitted: Any) -> int:
        if is_traced() or not _loop.is_outermost():
            return 0
        label, is_turn = labels.get(jitted) or label_of(jitted)
        if label:
            if is_turn:
                _loop.begin_jitted_turn(jitted)
            _core.begin(label)
        return label

    @functools.wraps(original)
    def call(jitted: Any, *arguments: Any, **keywords: Any) -> Any:
        label = _failures.attempt(0, "a jitted function is not hooked", begin, jitted)
        if not label:
            return original(jitted, *arguments, **keywords)
        try:
            return original(jitted, *arguments, **keywords)
        finally:
            _core.end(label)
    call._gpubound_hook = True  # type: ignore[attr-defined]
    return call


def wrap_scope(original: Any, hook: Dict[str, Any]) -> Any:
    """For the function that names what is traced in it (jax.named_scope). The names that the program
    gives itself become known as operations, by which the collector knows them again in what the
    compiler says of its launches; layers of neural networks (`foreign`) do not."""
    domain: str = hook["module"].partition(".")[0]
    foreign: List[str] = hook["foreign"]
    known: Set[str] = set()

    def learn(name: str, caller: Any) -> None:
        if str(caller.f_globals.get("__name__", "")).partition(".")[0] not in foreign:
            known.add(name)
            for part in filter(None, name.split("/")):
                _core.operation_label(domain, part)

    @functools.wraps(original)
    def scope(name: Any, *arguments: Any, **keywords: Any) -> Any:
        if type(name) is str and name not in known and len(known) < _MAX_SCOPES:
            _failures.attempt(None, "a named scope is no operation", learn, name, sys._getframe(1))
        return original(name, *arguments, **keywords)
    scope._gpubound_hook = True  # type: ignore[attr-defined]
    return scope


def _called(function: Any) -> Tuple[Any, str]:
    """The function that is called in the end, and its name: a partial is named like what it calls."""
    while isinstance(function, functools.partial):
        function = function.func
    return function, str(getattr(function, "__name__", type(function).__name__))


def _is_foreign(function: Any, packages: List[str]) -> bool:
    """Whether it is of one of the packages. A method is the program's where the class of its object is:
    `jax.jit(network.apply)`."""
    owner = getattr(function, "__self__", None)
    module = str(getattr(function if owner is None else type(owner), "__module__", ""))
    return module.partition(".")[0] in packages


def _origins(function: Any) -> Set[str]:
    """Where `function` may have been defined, also below what was made of it (jax.vmap): its own name, and for a
    method of an object those of all classes that the object is derived from."""
    names = set()
    while function is not None:
        owner = getattr(function, "__self__", None)
        name = str(getattr(function, "__name__", ""))
        names.add(f"{getattr(function, '__module__', '')}.{name}")
        if owner is not None:
            names.update(f"{cls.__module__}.{cls.__qualname__}.{name}" for cls in type(owner).__mro__)
        function = getattr(function, "__wrapped__", None)
    return names


def _as_simulation(jitted: Any, name: str) -> Any:
    label, own = (_core.operation_label(domain, "simulation") for domain in (_facts.RULES, ""))
    signal = _loop.note_reset if name.startswith("reset") else _loop.enter_rollout

    def called() -> None:
        _last.label = _anywhere[0] = label
        signal()
    return _core.hook(jitted, label, binds_to_instances(jitted), own, False, called, False)


def _is_turn(name: str, turns: List[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, turn) for turn in turns)


def _label(name: str, is_turn: bool) -> int:
    domain = _facts.JITTED_TRAINING if is_turn else _facts.JITTED
    return int(_core.annotation_label(domain, "jit" if name == "<lambda>" else name))


def _as_operation(jitted: Any, name: str, is_turn: bool) -> Any:
    label = _label(name, is_turn)

    def called() -> bool:
        if not _loop.is_outermost():
            return True  # decline: the program has an operation for this
        _last.label = _anywhere[0] = label
        if is_turn:
            _loop.begin_jitted_turn(called)
        return False
    return _core.hook(jitted, label, binds_to_instances(jitted), 0, True, called, False)


def wrap_wait(original: Any, hook: Dict[str, Any], name: str) -> Any:
    """For what waits for the results of jitted functions."""
    waiting = _core.wrap(original, _api.layer(hook["layer"], name).label, binds_to_instances(original))

    # Methods that nanobind makes have a __qualname__ that is no str.
    @functools.wraps(original, assigned=("__module__", "__name__", "__doc__"))
    def wait(*arguments: Any, **keywords: Any) -> Any:
        last = _last.label or _anywhere[0]
        if last is None or not _loop.is_outermost():
            return waiting(*arguments, **keywords)
        _core.begin(last)
        try:
            return waiting(*arguments, **keywords)
        finally:
            _core.end(last)
    wait._gpubound_hook = True  # type: ignore[attr-defined]
    return wait


def wrap_question(original: Any) -> Any:
    """For what asks for the type of a function, to treat a jitted one in its own way (jax.eval_shape)."""
    @functools.wraps(original)
    def ask(*arguments: Any, **keywords: Any) -> Any:
        return original(*map(_unwrapped, arguments[:1]), *arguments[1:], **keywords)
    ask._gpubound_hook = True  # type: ignore[attr-defined]
    return ask


def _unwrapped(function: Any) -> Any:
    inner = _core.wrapped(function)
    return function if inner is None else _unwrapped(inner)
