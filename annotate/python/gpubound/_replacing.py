# SPDX-License-Identifier: Apache-2.0
"""Puts the wrappers of hooks in the place of functions and methods: of a module, of a class, and of every
class derived from it, now or later.

Which method runs stays what it was. So what a class has from one that is not derived from the hooked
class (a mixin) is wrapped there, where it lies, and the wrapper calls the hook for instances of the
hooked class only: on the derived class it would come before what other bases bring.
"""
import sys
import weakref
from typing import Any, Callable, Dict, FrozenSet, List, MutableMapping, Tuple

from gpubound import _core, _failures, _roles
from gpubound._decorate import binds_to_instances

# Makes the wrapper of (function, its name).
Wrap = Callable[[Any, str], Any]
_UNBOUND = (staticmethod, classmethod)
_QUALIFIED_NAME = vars(type)["__qualname__"]

_hooked_bases: List[Tuple[Any, List[str], Wrap]] = []
# By class and name, the wrapper of a mixin's method and the hooked classes that it is for. The method may
# refer to the class, so its wrapper is not kept alive here.
_mixins: MutableMapping[Any, Dict[str, Tuple["weakref.ref[Any]", FrozenSet[Any]]]] = (
    weakref.WeakKeyDictionary())


def replace(owner: Any, name: str, wrap: Wrap) -> int:
    """Wraps what `owner`, a module or a class, has itself under `name`; 0 where that is hooked."""
    return put(owner, name, vars(owner)[name], wrap)


def put(owner: Any, name: str, original: Any, wrap: Wrap) -> int:
    """Puts the wrapper of `original` on `owner`; 0 where it is hooked already."""
    # The function inside is wrapped: a wrapper around a staticmethod would bind to instances.
    unbound = _unbound(original)
    if _is_hooked(unbound):
        return 0
    wrapper = wrap(unbound, f"{owner.__name__}.{name}")
    setattr(owner, name, type(original)(wrapper) if unbound is not original else wrapper)
    if not isinstance(owner, type):
        _replace_in_main(original, wrapper)
    return 1


def replace_property(owner: Any, name: str, wrap: Wrap) -> int:
    """Wraps what reads the property `name` of the class `owner`; 0 where it is hooked already."""
    original = vars(owner)[name]
    if _is_hooked(original.fget):
        return 0
    setattr(owner, name, original.getter(wrap(original.fget, f"{owner.__name__}.{name}")))
    return 1


def replace_methods(owner: Any, names: List[str], wrap: Wrap) -> int:
    """Wraps those of the methods that the class `owner` has itself."""
    return sum(replace(owner, name, wrap) for name in names if _is_method(vars(owner).get(name)))


def hook_subclasses(base: Any, names: List[str], wrap: Wrap) -> int:
    """Wraps the methods of `base` itself, of every class derived from it, and of those still to come."""
    original = vars(base).get("__init_subclass__")

    def init_subclass(cls: Any, /, **keywords: Any) -> None:
        if original is not None:
            original.__get__(None, cls)(**keywords)
        else:
            super(base, cls).__init_subclass__(**keywords)
        _try_to_hook(cls, base, names, wrap)

    # First, so that no class that another thread derives meanwhile is missed.
    base.__init_subclass__ = classmethod(init_subclass)
    _hooked_bases.append((base, names, wrap))
    installed = replace_methods(base, names, wrap)
    todo, seen = type.__subclasses__(base), {base}
    while todo:
        cls = todo.pop()
        if cls not in seen:
            seen.add(cls)
            installed += _try_to_hook(cls, base, names, wrap)
            todo.extend(type.__subclasses__(cls))
    return installed


def hook_finished_class(cls: Any) -> None:
    """For a class whose methods came after it was made, as cloudpickle makes them."""
    for base, names, wrap in list(_hooked_bases):
        if base in cls.__mro__:
            _try_to_hook(cls, base, names, wrap)


def _try_to_hook(cls: Any, base: Any, names: List[str], wrap: Wrap) -> int:
    # The class's own metaclass may say something else, or raise.
    what = f"{base.__name__}: class {_QUALIFIED_NAME.__get__(cls)} is not hooked"
    return int(_failures.attempt(0, what, replace_methods, cls, names, wrap) +
               _failures.attempt(0, what, _hook_mixins, cls, base, names, wrap))


def _hook_mixins(cls: Any, base: Any, names: List[str], wrap: Wrap) -> int:
    """Of `cls`, which is derived from `base`, the methods that come from a class that is not."""
    installed = 0
    for name in names:
        provider = next((one for one in cls.__mro__ if name in vars(one)), object)
        if provider is not object and base not in provider.__mro__:
            installed += _hook_mixin(provider, name, base, wrap)
    return installed


def _hook_mixin(provider: Any, name: str, base: Any, wrap: Wrap) -> int:
    original = vars(provider)[name]
    unbound = _unbound(original)
    ours, bases = _mixins.get(provider, {}).get(name, (lambda: None, frozenset()))
    if unbound is not ours():  # put there by nobody of us, or by the program since
        bases = frozenset()
        if _is_hooked(unbound) or not _is_method(original):
            return 0
    if base in bases or isinstance(original, staticmethod):  # which is told nothing of the class
        return 0
    hooked = wrap(unbound, f"{provider.__name__}.{name}")
    wrapper = _core.watch(unbound, 0, binds_to_instances(unbound), _roles.CHOOSES, (base, hooked))
    setattr(provider, name, type(original)(wrapper) if unbound is not original else wrapper)
    _mixins.setdefault(provider, {})[name] = (weakref.ref(wrapper), bases | {base})
    return 1


def _unbound(method: Any) -> Any:
    return method.__func__ if type(method) in _UNBOUND else method


def _replace_in_main(original: Any, wrapper: Any) -> None:
    """Under the names that the script gave a function before (`from time import sleep`)."""
    names = vars(sys.modules.get("__main__", sys))
    for name, value in list(names.items()):
        if value is original:
            names[name] = wrapper


def _is_hooked(function: Any) -> bool:
    return _core.wrapped(function) is not None or hasattr(function, "_gpubound_hook")


def _is_method(value: Any) -> bool:
    if isinstance(value, _UNBOUND):
        return type(value) in _UNBOUND  # how to make one of a derived type, only that type knows
    return callable(value)
