# SPDX-License-Identifier: Apache-2.0
"""Counts the calls of a library's native functions and methods as a layer: all that the hook's sources
hold, wherever its holders name them.

The same function under several names gets one wrapper, so that the names stay the same object. Methods
of a native class, which cannot be changed, are shadowed on the class derived from it that programs
use. PyTorch looks at some of its functions by identity; what that takes is done here too: TorchScript's
table of functions learns the wrappers, and a program with a `__torch_function__` of its own, which is
handed the originals and may compare them by `is`, gets the functions back.
"""
import fnmatch
import importlib
import re
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from gpubound import _api, _core, _failures
from gpubound._decorate import binds_to_instances
from gpubound._intercept import Interception, is_native

_METHOD = types.MethodDescriptorType
_installed: "List[NativeCalls]" = []


class NativeCalls:
    """The wrappers of one hook, and what undoes them."""

    def __init__(self, hook: Dict[str, Any]) -> None:
        self._layer: str = hook["layer"]
        self._description: Dict[str, Any] = hook["natives"]
        self.indifferent = frozenset(self._description.get("indifferent", []))
        self._taken = _matcher(self._description["take"])
        self._left = _matcher(self._description["leave"])
        self._functions = Interception()
        self._methods = Interception()
        self._wrappers: Dict[int, Any] = {}  # by the original, which the wrapper keeps alive
        self._subscripted: List[type] = []
        self._constructed: List[type] = []
        self._subscript_labels: List[int] = []

    def install(self) -> int:
        """Wraps everything; returns how many names now lead to a wrapper."""
        found = [pair for source in self._description["sources"]
                 for pair in self._natives_of(source)]  # keeps them alive, and so their ids
        natives = {id(native): name for name, native in found}
        for holder in map(find, self._description["holders"]):
            if isinstance(holder, type):
                self._shadow_methods(holder)
            else:
                self._replace_functions(holder, natives)
        if "subscripts" in self._description:
            owner = find(self._description["subscripts"])
            self._subscript_labels = [_api.layer(self._layer, f"{owner.__name__}.{method}").label
                                      for method in ("__getitem__", "__setitem__")]
            self._watch_subscripts(owner)
        self._watch_construction(self._description.get("constructors", []))
        return len(self._functions) + len(self._methods) + len(self._subscripted) + len(self._constructed)

    def originals(self) -> Iterator[Tuple[Any, Any]]:
        """Each wrapped function or method and its wrapper."""
        for wrapper in self._wrappers.values():
            yield _core.wrapped(wrapper), wrapper

    @property
    def functions_wrapped(self) -> int:
        """How many names of functions lead to a wrapper now."""
        return len(self._functions)

    def restore_functions(self) -> None:
        """Puts the functions back; methods stay wrapped."""
        self._functions.restore()

    def watch_derived(self, cls: type) -> None:
        """Subscripts of `cls`, which was derived just now, if those of its base are counted."""
        if any(issubclass(cls, known) for known in self._subscripted):
            self._watch_subscripts(cls)

    def restore(self) -> None:
        """Puts everything back."""
        for cls in self._subscripted:
            _core.leave_subscripts(cls)
        for cls in self._constructed:
            _core.leave_construction(cls)
        self._subscripted.clear()
        self._constructed.clear()
        self._functions.restore()
        self._methods.restore()

    def _natives_of(self, source: str) -> Iterator[Tuple[str, Any]]:
        owner = find(source)
        title = source.rpartition(".")[2].lstrip("_")
        for name in dir(owner):
            if self._takes(name):
                value = getattr(owner, name)
                if is_native(value):
                    yield f"{title}.{name}", value

    def _takes(self, name: str) -> bool:
        return self._taken(name) is not None and self._left(name) is None

    def _replace_functions(self, holder: Any, natives: Dict[int, str]) -> None:
        held = dict(vars(holder))
        if type(holder) is not types.ModuleType:  # it may look names up by itself (torch._VF)
            for native in natives.values():
                name = native.rpartition(".")[2]
                held.setdefault(name, getattr(holder, name, None))
        for name, value in held.items():
            if id(value) in natives and self._takes(name):
                self._functions.shadow(holder, name, self._wrap(value, natives[id(value)]))

    def _shadow_methods(self, holder: type) -> None:
        own = vars(holder)
        for name in dir(holder):
            if not self._takes(name):
                continue
            value = own[name] if name in own else getattr(holder, name)
            if _core.wrapped(value) is not None:
                continue
            inner = getattr(value, "__wrapped__", None)  # of a method in Python around a native one
            if isinstance(value, _METHOD) or isinstance(inner, _METHOD):
                self._methods.shadow(holder, name, self._wrap(value, f"{holder.__name__}.{name}"))

    def _watch_subscripts(self, cls: type) -> None:
        """Those of `cls` and of what is derived from it, but where it has its own."""
        if isinstance(getattr(cls, "__getitem__"), types.WrapperDescriptorType):  # noqa: B009
            if not _core.watch_subscripts(cls, *self._subscript_labels):
                _failures.note(f"subscripts of {cls.__name__} are not counted: this interpreter keeps "
                               "what they lead to elsewhere")
                return
            self._subscripted.append(cls)
        derived: type
        for derived in type.__subclasses__(cls):
            self._watch_subscripts(derived)

    def _watch_construction(self, paths: List[str]) -> None:
        """Calls of these classes, and of what has their metaclasses, all by the name of the first one."""
        for cls in map(find, paths):
            if _core.watch_construction(cls, _api.layer(self._layer, paths[0]).label):
                self._constructed.append(cls)

    def _wrap(self, original: Any, name: str) -> Any:
        wrapper = self._wrappers.get(id(original))
        if wrapper is None:
            label = _api.layer(self._layer, name).label
            wrapper = _core.wrap(original, label, binds_to_instances(original))
            self._wrappers[id(original)] = wrapper
        return wrapper


def _matcher(patterns: List[str]) -> Callable[[str], Optional["re.Match[str]"]]:
    """One expression for all: 3,000 names are asked for while torch is imported."""
    return re.compile("|".join(map(fnmatch.translate, patterns))).match


def find(path: str) -> Any:
    """The module, or the class of a module, that `path` names."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def install(hook: Dict[str, Any]) -> int:
    """Carries out a hook with `natives`; returns how many names were wrapped."""
    calls = NativeCalls(hook)
    installed = calls.install()
    _installed.append(calls)
    _core.at_end(withdraw)
    if hook["module"] == "torch":
        _teach_torchscript(calls)
        _give_back_to_overriders(calls)
    return installed


def withdraw() -> None:
    """Puts everything back: the recording has ended, and the program goes on without what it costs. Not
    where torch.compile has compiled something: it would do so again, since it knows functions by
    identity."""
    if _has_compiled():
        return
    for calls in list(_installed):
        calls.restore()
        if calls in _installed:  # another thread may do the same
            _installed.remove(calls)


def _has_compiled() -> bool:
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and bool(dynamo.counters.get("frames"))


def _teach_torchscript(calls: NativeCalls) -> None:
    builtins = sys.modules["torch.jit._builtins"]
    table = builtins._get_builtin_table()
    for original, wrapper in calls.originals():
        if id(original) in table:
            table[id(wrapper)] = table[id(original)]


def _give_back_to_overriders(calls: NativeCalls) -> None:
    """When a class of the program overrides `__torch_function__`; the ledger says so. Not for those of which
    the hook says that they only hand on what they are given."""
    torch = sys.modules["torch"]
    disabled = torch._C._disabled_torch_function_impl

    def note(cls: type) -> None:
        calls.watch_derived(cls)
        own = vars(cls).get("__torch_function__", disabled)
        name = f"{cls.__module__}.{cls.__qualname__}"
        if own is disabled or name.startswith("torch.") or name in calls.indifferent:
            return
        if not calls.functions_wrapped:
            return
        calls.restore_functions()
        _core.ledger("", 0, "torch's functions, not its methods, are left alone from here on: "
                     f"{name} has a __torch_function__ of its own")

    def init_subclass(base: type) -> classmethod:
        def tell(cls: type, **keywords: Any) -> None:
            super(base, cls).__init_subclass__(**keywords)  # type: ignore[arg-type]
            _failures.attempt(None, "a derived class may have a __torch_function__", note, cls)
        return classmethod(tell)
    for base in (torch.Tensor, torch.overrides.TorchFunctionMode):
        base.__init_subclass__ = init_subclass(base)
