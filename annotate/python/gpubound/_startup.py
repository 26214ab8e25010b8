# SPDX-License-Identifier: Apache-2.0
"""Waits for the imports of hooked modules, in a program that was not edited. Installed by
startup/sitecustomize.py when the first library that has a hook file is imported."""
import os
import sys
from typing import Any, Callable, ContextManager, Dict, List, Optional

from gpubound import _asyncio, _core, _failures, _hooks, _loop, _memory, _pickling

# Measured on 3.9 and 3.10 with a wrapper around a function of two arguments.
_SHARED_EXTENSION = (
    "Python %d.%d is hooked by the extension that serves every version, since none was built for this one: a hooked "
    "call with keywords takes 40 to 60 ns longer. `%s -m pip install` of gpubound's source builds one.")


class Finder:
    """First on sys.meta_path: finds nothing itself, but hears of modules when they are complete."""

    def __init__(self, import_lock_released: Callable[[], ContextManager[None]]) -> None:
        self._import_lock_released = import_lock_released
        self._waiting: Dict[str, List[Callable[[Any], None]]] = {}
        # Of these, modules whose import had begun before.
        self._under_way: Dict[str, None] = {}
        # What this takes is ours, and reports take it out.
        self._carry_out = _core.wrap(_carry_out, _core.annotation_label("gpubound", "hooks"), False)

    def when_imported(self, name: str, action: Callable[[Any], None]) -> None:
        """Calls action(module) now or once, when module `name` has been imported."""
        if name in sys.modules and not _is_initialising(sys.modules[name]):
            self._carry_out(action, sys.modules[name])
        else:
            self._waiting.setdefault(name, []).append(action)
            if name in sys.modules:
                self._under_way[name] = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[Any]:
        """What the other finders find, with a loader that tells us when it is done."""
        if self._under_way:
            with self._import_lock_released():  # an action may import what another thread executes
                self._look_again()
        if name not in self._waiting:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                self._watch(spec)
                return spec
        return None

    def _look_again(self) -> None:
        """Their loaders run already and cannot tell; whoever imports something else afterwards does."""
        for name in list(self._under_way):
            module = sys.modules.get(name)
            if module is not None and _is_initialising(module):
                continue
            self._under_way.pop(name, None)  # another thread may have been faster
            actions = self._waiting.pop(name, ()) if module is not None else ()
            for action in actions:
                self._carry_out(action, module)

    def _watch(self, spec: Any) -> None:
        if not hasattr(spec.loader, "exec_module"):
            _failures.note(f"{spec.name}: its loader cannot be watched")
            return
        spec.loader = _Deputy(spec, self._executed)

    def _executed(self, name: str, module: Any) -> None:
        if name not in sys.modules:  # the program has made a module of its own from the spec
            return
        for action in self._waiting.pop(name, ()):
            self._carry_out(action, module)


class _Deputy:
    """Stands for the loader of one spec until its module is executed. The loader itself may serve others:
    that of built-in and frozen modules is a class, and an archive has one for all that is in it."""

    def __init__(self, spec: Any, executed: Callable[[str, Any], None]) -> None:
        self._spec, self._loader, self._executed = spec, spec.loader, executed

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return _Deputy if isinstance(self._loader, type) else type(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: Any) -> None:
        """Puts the loader back, for what the module asks of it, and tells when it has executed it."""
        self._spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._executed(self._spec.name, module)


def _is_initialising(module: Any) -> bool:
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _carry_out(action: Callable[[Any], None], module: Any) -> None:
    try:
        action(module)
    except Exception as error:  # pylint: disable=broad-except  # never the program's business
        _failures.note(f"{module.__name__}: {type(error).__name__}: {error}")


def _after_fork_in_child() -> None:
    _core.after_fork_in_child()
    _loop.forget_in_fork_child()


def install(import_lock_released: Callable[[], ContextManager[None]]) -> Optional[Finder]:
    """Starts waiting for every module that a hook file names; once per process. Returns who waits, None
    where nobody records. Within `import_lock_released()` the calling thread lets others import."""
    if not _core.recording:
        return None
    for other in sys.meta_path:
        if isinstance(other, Finder):
            return other
    if sys.version_info < (3, 11) and (_core.__file__ or "").endswith(".abi3.so"):
        _core.ledger("", 0, _SHARED_EXTENSION % (*sys.version_info[:2], sys.executable))
    libraries = _hooks.load_libraries(os.path.join(os.path.dirname(__file__), "hooks"), _hooks.user_folder())
    os.register_at_fork(after_in_child=_after_fork_in_child)
    finder = Finder(import_lock_released)
    sys.meta_path.insert(0, finder)  # first, so that no import of another thread is missed
    for library in libraries:
        for name in dict.fromkeys(library.modules):
            finder.when_imported(name, library.install)
    finder.when_imported("asyncio.events", _asyncio.install)
    if sys.version_info >= (3, 12):
        finder.when_imported("asyncio.base_events", _asyncio.install_for_eager_tasks)
    finder.when_imported("torch", _memory.install)
    for name in _pickling.CLOUDPICKLES:
        finder.when_imported(name, _pickling.register_with_cloudpickle)
    finder.when_imported("dill._dill", _pickling.register_with_dill)
    return finder
