# SPDX-License-Identifier: Apache-2.0
"""How scopes and wrappers travel to another process.

A wrapper that can be imported by its name is pickled as that name, as a function is, and one that shadows
a method of a native class as that attribute. Any other is pickled as what it wraps: the process that
unpickles it need not have gpubound, and wraps for itself.
"""
import copy
import functools
import sys
from typing import Any, List, Tuple, Union

from gpubound import _core, _failures, _replacing

# Before cloudpickle 3.0 its pickler lay in cloudpickle_fast.
CLOUDPICKLES = tuple(f"{package}.{module}"
                     for package in ("cloudpickle", "ray.cloudpickle", "joblib.externals.cloudpickle")
                     for module in ("cloudpickle", "cloudpickle_fast"))
_TYPES = (_core.Wrapper, _core.ObjectWrapper, _core.FunctionWrapper, _core.DescriptorWrapper)


def reduce_scope(scope: _core.Scope) -> Tuple[Any, ...]:
    """For Scope.__reduce__."""
    if scope.layer == 0:
        return _core.operation, (scope.name,)
    return _core.layer_scope, (scope.layer, scope.name)


def reduce_wrapper(wrapper: Any) -> Union[str, Tuple[Any, ...]]:
    """For __reduce_ex__ of the wrapper types."""
    # The qualified name of a native function may begin with a class of which it is a static method.
    for attribute in ("__qualname__", "__name__"):
        name = getattr(wrapper, attribute, None)
        if name is not None and _find(getattr(wrapper, "__module__", None), name) is wrapper:
            return name
    for derived in _derived_from(getattr(wrapper, "__objclass__", None)):
        name = wrapper.__name__
        if vars(derived).get(name) is wrapper:  # shadows a method of a native class
            return getattr, (derived, name)
    return reduce_by_value(wrapper)


def reduce_by_value(wrapper: Any) -> Tuple[Any, ...]:
    """For pickles that carry the definitions of __main__ along (cloudpickle). copy.copy hands a
    function back as it is, and every Python has it."""
    return copy.copy, (_core.wrapped(wrapper),)


def reduce_for_cloudpickle(wrapper: Any) -> Union[str, Tuple[Any, ...]]:
    """By name, except where the name means nothing in another process. For dill as well."""
    if getattr(wrapper, "__module__", None) in (None, "__main__", "__mp_main__"):
        return reduce_by_value(wrapper)
    return reduce_wrapper(wrapper)


def register_with_cloudpickle(module: Any) -> None:
    """For each module of CLOUDPICKLES; of two the other one has nothing to register with."""
    pickler = vars(module).get("CloudPickler")
    if pickler is not None:
        for wrapper_type in _TYPES:
            pickler.dispatch_table[wrapper_type] = reduce_for_cloudpickle
    if "_class_setstate" in vars(module):
        module._class_setstate = _hook_when_set(module._class_setstate)


def register_with_dill(dill: Any) -> None:
    """For the module dill._dill."""
    def save(pickler: Any, wrapper: Any) -> None:
        reduced = reduce_for_cloudpickle(wrapper)
        if isinstance(reduced, str):
            pickler.save_global(wrapper, name=reduced)
        else:
            pickler.save_reduce(*reduced, obj=wrapper)
    for wrapper_type in _TYPES:
        dill.Pickler.dispatch[wrapper_type] = save


def _hook_when_set(set_state: Any) -> Any:
    """For what gives an unpickled class its methods, which were unwrapped and come when the class has
    been made. Pickles name this function, and it has the original's name."""
    @functools.wraps(set_state)
    def set_and_hook(cls: Any, state: Any) -> Any:
        result = set_state(cls, state)
        _failures.attempt(None, "an unpickled class is not hooked", _replacing.hook_finished_class, cls)
        return result
    return set_and_hook


def _derived_from(owner: Any) -> List[type]:
    return type.__subclasses__(owner) if isinstance(owner, type) else []


def _find(module: Any, qualified_name: str) -> Any:
    found = sys.modules.get(module) if isinstance(module, str) else None
    for part in qualified_name.split("."):
        found = getattr(found, part, None)
    return found
