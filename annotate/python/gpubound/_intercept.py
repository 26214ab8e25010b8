# SPDX-License-Identifier: Apache-2.0
"""Python -> native transitions: replaces the native callables of a module or class by wrappers that
open a layer, and puts the originals back."""
import types
from typing import Any, Callable, Iterable, List, Optional, Tuple

from gpubound import _api, _core
from gpubound._decorate import binds_to_instances

# What a C extension makes: functions, methods of its types, and their like under pybind11, nanobind
# and Cython, which have types of their own.
_NATIVE_TYPES = (types.BuiltinFunctionType, types.MethodDescriptorType)
_NATIVE_TYPE_NAMES = {"instancemethod", "nb_func", "nb_method", "cython_function_or_method"}

_INHERITED = object()  # in the place of an original: the owner had none of its own


class Interception:
    """What intercept() replaced. restore() puts the very same objects back; a context manager too."""

    def __init__(self) -> None:
        self._originals: List[Tuple[Any, str, Any, Any]] = []  # owner, name, original, wrapper
        self.failed: List[str] = []  # names that could not be replaced

    def __len__(self) -> int:
        return len(self._originals)

    def replace(self, owner: Any, name: str, original: Any, wrap: Callable[[Any, int], Any],
                label: int) -> bool:
        """Puts wrap(original, label) in the place of `original`, which owner.name is; False where
        owner does not let it."""
        try:
            wrapper = wrap(original, label)
            setattr(owner, name, wrapper)
        except (TypeError, AttributeError) as error:
            self.failed.append(f"{getattr(owner, '__name__', owner)}.{name}: {error}")
            return False
        self._originals.append((owner, name, original, wrapper))
        return True

    def shadow(self, owner: Any, name: str, wrapper: Any) -> None:
        """Puts `wrapper` in the place of owner.name, which may be what owner inherits from a class that
        cannot be changed."""
        original = vars(owner).get(name, _INHERITED)
        setattr(owner, name, wrapper)
        self._originals.append((owner, name, original, wrapper))

    def restore(self) -> None:
        """Puts the originals back, except where somebody else has replaced the wrapper since."""
        while True:
            try:
                owner, name, original, wrapper = self._originals.pop()
            except IndexError:  # the last one was put back, maybe by another thread
                return
            if vars(owner).get(name) is not wrapper:
                continue
            if original is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

    def __enter__(self) -> "Interception":
        return self

    def __exit__(self, *exception: object) -> None:
        self.restore()


def intercept(target: Any, /, *, layer: str, names: Optional[Iterable[str]] = None,
              exclude: Iterable[str] = ()) -> Interception:
    """Counts every call of the native functions and methods of `target`, a module or a class, as `layer`.

    Those are what C extensions, pybind11, nanobind and Cython make. Objects with a type of their own
    (numpy's ufuncs and most of its functions) are taken only where `names` has them, classes never:
    a wrapped one would be none any more.

    Replaces each by a wrapper that has the same name, docs, signature, class, equality and pickle
    and costs some tens of nanoseconds per call. `names` limits it to those, `exclude` leaves some
    out. Names that begin with an underscore are taken only where `names` has them. Returns what
    undoes it: `gpubound.intercept(ale_py, layer="simulator").restore()`.

    Raises TypeError if `target` is neither, ValueError for an unknown layer, AttributeError for a
    name in `names` that `target` does not have.
    """
    if not isinstance(target, (types.ModuleType, type)):
        raise TypeError(f"intercept() takes a module or a class, not {type(target).__name__}")
    _api.layer_number(layer)
    own = vars(target)
    chosen = list(own) if names is None else list(names)
    for name in chosen:
        if name not in own:
            raise AttributeError(f"{target.__name__} has no attribute {name!r} of its own")
    excluded = set(exclude)
    interception = Interception()
    for name in chosen:
        if name in excluded or (names is None and name.startswith("_")):
            continue
        original = own.get(name)  # looked at once: another thread may be replacing it as well
        if names is None and not is_native(original):
            continue
        if isinstance(original, type):
            interception.failed.append(f"{target.__name__}.{name}: a class; intercept its methods")
            continue
        label = _api.layer(layer, f"{target.__name__}.{name}").label
        interception.replace(target, name, original, wrap, label)
    return interception


def wrap(original: Any, label: int) -> Any:
    """A wrapper of a function, or of the function inside a staticmethod or classmethod."""
    if isinstance(original, (staticmethod, classmethod)):
        return type(original)(wrap(original.__func__, label))
    return _core.wrap(original, label, binds_to_instances(original))


def is_native(value: Any) -> bool:
    """Whether `value` is a callable that a C extension made, and not wrapped yet."""
    if _core.wrapped(value) is not None:
        return False
    return isinstance(value, _NATIVE_TYPES) or type(value).__name__ in _NATIVE_TYPE_NAMES
