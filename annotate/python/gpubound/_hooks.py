# SPDX-License-Identifier: Apache-2.0
"""Installs what the hook files say: after one of their modules is imported, its functions are replaced
by wrappers that open an operation or a layer.

A file of gpubound/hooks describes one library: its name, the versions it is right for, and hooks.
Each hook names a `module`, a `class` or none, the `names` to wrap there (also in `subclasses`), and
what a call of them is: an `operation`, a `layer`, the begin or end of an `iteration`, that the process
has a `role` in the training, which `counters` it is followed by, or that it `yields` CUPTI; or the
`natives` of a library, its `timer`, its `range`, what makes its `jitted` functions, or what it `makes`.
`alone`, `unless`, `loop`, `peer` and `channel` are explained where they are read. What could not be hooked
is in the ledger; the program never sees an error of ours.
"""
import functools
import inspect
import sys
from typing import Any, Callable, Dict, List, Optional

from gpubound import (_api, _closures, _collectives, _core, _counts, _cupti, _facts, _failures, _jitted, _lists,
                      _loop, _natives, _ranges, _ray, _replacing, _roles, _signals, _timers, _versions, _waits)
from gpubound._decorate import Suspendable, binds_to_instances, drive_steps

_LOOP_SIGNALS = {"rollout": _loop.enter_rollout, "reset": _loop.note_reset, "update": _loop.enter_update}
# Operations of frameworks within which what the loop does is told apart further.
_STAGES = ("rollout", "update")
_AFTER_CALL: Dict[str, Callable[[], None]] = {"ends": _loop.end_iterations, "turn": _loop.end_turn,
                                               "whole": _loop.end_turn}
_BEFORE_CALL: Dict[str, Callable[[], None]] = {"left": _loop.leave, "whole": _loop.begin_first_turn}
# docs/python.md, Hook files, says what each is.
_FIELDS = {"module", "class", "names", "versions", "subclasses", "inherited", "property", "operation", "layer",
           "iteration", "loop", "alone", "unless", "peer", "channel", "wakes", "yields", "sets", "finds", "handlers",
           "calls", "natives", "timer", "range", "own", "returns", "fact", "gradients", "turn", "jitted", "foreign",
           "turns", "simulates", "makes", "collective", "role", "counters", "consumed", "only", "spares"}
# Those that say what a call is. A hook may have none of them where it notes something around the call.
_SAYS_WHAT_IT_IS = {"operation", "layer", "collective", "channel", "wakes", "handlers", "yields", "timer",
                    "range", "jitted", "returns", "makes", "finds", "fact"}


class Library:
    """One hook file and what became of it."""

    def __init__(self, description: Dict[str, Any]) -> None:
        self.name: str = description["library"]
        self._distributions: List[str] = description.get("distributions", [self.name])
        self._versions: str = description["versions"]
        self._hooks: List[Dict[str, Any]] = description["hooks"]
        self._lists: Dict[str, List[str]] = description.get("lists", {})
        self._version: Optional[str] = None  # None: not looked at
        self._refused = False

    @property
    def modules(self) -> List[str]:
        """Names of the modules whose import the hooks wait for."""
        return [hook["module"] for hook in self._hooks]

    def install(self, module: Any) -> None:
        """Carries out the hooks for `module`, which has just been imported."""
        if self._is_refused(module):
            return
        installed = 0
        for hook in self._hooks:
            if hook["module"] != module.__name__ or not self._is_for_this_version(hook):
                continue
            try:
                installed += install_hook(_lists.expand(hook, self._lists), module)
            except Exception as error:  # pylint: disable=broad-except
                _failures.note(f"{self.name}: {hook}: {type(error).__name__}: {error}")
        if installed:
            # The text is for GPUBOUND_LOG=debug alone.
            _core.ledger("hooks_installed", installed, f"{installed} functions of {module.__name__}")

    def _is_refused(self, module: Any) -> bool:
        """Found out with the first module; why not is noted once."""
        if self._version is None:
            try:
                version = "" if self._versions == "any" else self._find_version(module)
                refused = self._versions != "any" and not _versions.is_within(version, self._versions)
            except Exception:
                self._refused, self._version = True, ""
                raise
            self._refused, self._version = refused, version
            if refused:
                _failures.note(f"{self.name} {version} is not hooked: its hooks were written for "
                               f"{self._versions}")
        return self._refused

    def _is_for_this_version(self, hook: Dict[str, Any]) -> bool:
        return "versions" not in hook or _versions.is_within(str(self._version), hook["versions"])

    def _find_version(self, module: Any) -> str:
        if self.name == "python":
            return sys.version.split()[0]
        return _versions.find(self._distributions, module.__name__.partition(".")[0])


def install_hook(hook: Dict[str, Any], module: Any) -> int:
    """Wraps what `hook` names in `module`; returns how many functions that were."""
    unknown = sorted(set(hook) - _FIELDS)
    if unknown:
        raise ValueError(f"unknown field {', '.join(unknown)}; docs/python.md, Hook files, has all")
    if "natives" in hook:
        return _natives.install(hook)
    if "spares" in hook:
        return _spare(hook, module)
    wrap = _wrapper_factory(hook)
    if "class" not in hook:
        missing = [name for name in hook["names"] if name not in vars(module)]
        if missing:
            raise AttributeError(f"no function {', '.join(missing)}")
        return sum(_replacing.replace(module, name, wrap) for name in hook["names"])
    owner = getattr(module, hook["class"])
    if hook.get("property"):
        return sum(_replacing.replace_property(owner, name, wrap) for name in hook["names"])
    if hook.get("inherited"):  # from a native class, which cannot be changed
        return sum(_replacing.put(owner, name, getattr(owner, name), wrap) for name in hook["names"])
    if not hook.get("subclasses"):
        if not any(name in vars(owner) for name in hook["names"]):
            raise AttributeError(f"{hook['class']} has no {', '.join(hook['names'])}")
        return _replacing.replace_methods(owner, hook["names"], wrap)
    return _replacing.hook_subclasses(owner, hook["names"], wrap)


def _spare(hook: Dict[str, Any], module: Any) -> int:
    """Tells a compiler of what the interpreter runs not to compile this package, through functions of its own."""
    for name in hook["names"]:
        getattr(module, name)(hook["spares"])
    return len(hook["names"])


def _wrapper_factory(hook: Dict[str, Any]) -> Callable[[Any, str], Any]:
    """Makes the wrapper of (function, its name) that `hook` asks for: what the call is, if it says so, with
    what the hook notes before and after it around that."""
    around: List[Callable[[Any, Any, str], Any]] = []
    if "counters" in hook or "consumed" in hook:
        around.append(lambda called, original, name: _counts.wrap(called, original, name, hook))
    if hook.get("iteration", "begins") != "begins":
        around.append(_around_iteration(hook["iteration"]))
    if "role" in hook:
        around.append(_before_role(hook["role"]))
    if around and not _SAYS_WHAT_IT_IS & set(hook):
        inside = None
    else:
        inside = _scope_factory(hook)

    def wrap(original: Any, name: str) -> Any:
        called = original if inside is None else inside(original, name)
        for put_around in around:
            called = put_around(called, original, name)
        return called
    return wrap


def _scope_factory(hook: Dict[str, Any]) -> Callable[[Any, str], Any]:
    if "collective" in hook:
        return lambda original, name: _in_collective(original, name, hook)
    if "channel" in hook or "wakes" in hook or hook.get("layer") == "wait":
        return lambda original, name: _waits.watch(original, name, binds_to_instances(original), hook)
    if "handlers" in hook:
        return lambda original, _: _signals.wrap(original, hook["handlers"])
    if "yields" in hook:
        return _before_profiler
    if "timer" in hook:
        return lambda original, _: _timers.wrap(original, hook)
    if "range" in hook:
        return lambda original, _: _ranges.wrap(original, hook)
    if hook.get("jitted") == "made":
        return lambda original, _: _jitted.wrap_maker(original, hook)
    if hook.get("jitted") == "compiled":
        return lambda original, _: _jitted.wrap_compiled(original, hook)
    if hook.get("jitted") == "called":
        return lambda original, _: _jitted.wrap_call(original, hook)
    if hook.get("jitted") == "named":
        return lambda original, _: _jitted.wrap_scope(original, hook)
    if hook.get("jitted") == "awaited":
        return lambda original, name: _jitted.wrap_wait(original, hook, name)
    if hook.get("jitted") == "asked":
        return lambda original, _: _jitted.wrap_question(original)
    if "returns" in hook:
        return _around_what_it_returns(hook)
    if "makes" in hook:
        return lambda original, _: _around_what_it_makes(original, hook["makes"])
    if "finds" in hook:
        return lambda original, _: _around_what_it_finds(original, hook["finds"])
    if "fact" in hook:
        return lambda original, _: _facts.wrap_module_call(original, hook)
    if "layer" in hook:
        return lambda original, name: _in_layer(original, name, hook)
    if "operation" not in hook:
        raise ValueError("it says nothing of what a call is; expected operation, layer or another field of "
                         "docs/python.md, Hook files")
    return lambda original, name: _in_operation(original, name, hook)


def _in_operation(original: Any, name: str, hook: Dict[str, Any]) -> Any:
    label = _core.operation_label(_facts.RULES, hook["operation"])
    alone = bool(hook.get("alone"))  # only where no other hook is open on the thread
    guard = _guard(hook, name)
    own = _core.operation_label("", hook["operation"])
    driven = drive_steps(original, lambda: _HookedSteps(label, own, alone, guard))
    if driven is not None:
        return driven
    binds = binds_to_instances(original)
    hooked = _core.hook(original, label, binds, own, alone, guard, hook["operation"] in _STAGES)
    if hook.get("loop") != "optimized":
        return hooked
    return _around_step(_closures.wrap(original, hooked, hook), binds)


def _around_step(hooked: Any, binds: bool) -> Any:
    """`hooked`, which tells the loop of each step of an optimizer."""
    def begin(*_: Any, **__: Any) -> None:
        if _loop.is_in_rollout():
            _loop.enter_update()

    def end(optimizer: Any, *_: Any, **__: Any) -> None:
        _loop.note_optimizer(optimizer)
    return _core.watch(_core.watch(hooked, 0, binds, _roles.OPENS, end), 0, binds, _roles.CLOSES, begin)


class _HookedSteps(Suspendable):
    """Each step of what can be suspended (an asynchronous environment's) is what a call would be."""

    __slots__ = ("_label", "_own", "_alone", "_guard", "_declines")

    def __init__(self, label: int, own: int, alone: bool, guard: Optional[Callable[[], object]]) -> None:
        super().__init__()
        self._label, self._own, self._alone, self._guard = label, own, alone, guard
        self._declines: object = False

    def run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        hooked = _core.hook(super().run, self._label, False, self._own, self._alone, self._ask, False)
        return hooked(step, *arguments)

    def _ask(self) -> object:
        """The guard speaks of the call, and so it is asked once."""
        if self._guard is not None:
            guard, self._guard = self._guard, None
            self._declines = guard()
        return self._declines


def _in_layer(original: Any, name: str, hook: Dict[str, Any]) -> Any:
    binds = binds_to_instances(original)
    label = _api.layer(hook["layer"], name).label
    if hook["layer"] == "python":  # whatever waits for it outside, inside waits are its own
        wrapper = _core.watch(original, label, binds, _roles.WORKS, None)
    else:
        wrapper = _core.wrap(original, label, binds)
    if hook.get("loop") != "worker":
        return wrapper
    return _core.watch(wrapper, 0, binds, _roles.CLOSES, _loop.enter_worker)


def _in_collective(original: Any, name: str, hook: Dict[str, Any]) -> Any:
    wrapper = _collectives.wrap(original, name, hook)
    return _in_layer(wrapper, name, hook) if "layer" in hook else wrapper


def _guard(hook: Dict[str, Any], called: str) -> Optional[Callable[[], object]]:
    signal = _signal_of(hook, called)
    if "unless" not in hook:
        return signal
    module, _, name = hook["unless"].rpartition(".")  # a function of no arguments
    refuses = getattr(sys.modules[module], name)
    return refuses if signal is None else lambda: refuses() or signal()


def _signal_of(hook: Dict[str, Any], called: str) -> Optional[Callable[[], object]]:
    """What a call of the function `called` says of the loop."""
    if hook.get("iteration") == "begins":
        return _loop.begin_iteration
    loop = hook.get("loop", "")
    resets = loop == "rollout" and called.rpartition(".")[2].startswith("reset")
    return _LOOP_SIGNALS.get("reset" if resets else loop)


def _around_iteration(moment: str) -> Callable[[Any, Any, str], Any]:
    tells = [(role, moments[moment]) for role, moments in ((_roles.CLOSES, _BEFORE_CALL), (_roles.FOLLOWS, _AFTER_CALL))
             if moment in moments]
    if not tells:
        raise ValueError(f"iteration {moment!r}; expected begins, {' or '.join({**_AFTER_CALL, **_BEFORE_CALL})}")

    def wrap(called: Any, original: Any, name: str) -> Any:
        def teller(note: Callable[[], None]) -> Callable[..., None]:
            return lambda *_, **__: _failures.attempt(None, f"{name}: the iteration is not known", note)
        for role, note in tells:
            called = _core.watch(called, 0, binds_to_instances(original), role, teller(note))
        return called
    return wrap


def _before_role(role: str) -> Callable[[Any, Any, str], Any]:
    """A process that makes the call has the role from then on."""
    if role not in _api.ROLES:
        raise ValueError(f"role {role!r}; expected one of {', '.join(_api.ROLES)}")

    def wrap(called: Any, original: Any, name: str) -> Any:
        def tell(*_: Any, **__: Any) -> None:
            _failures.attempt(None, f"{name}: the role is not recorded", _api.take_role, role)
        return _core.watch(called, 0, binds_to_instances(original), _roles.CLOSES, tell)
    return wrap


def _around_what_it_returns(hook: Dict[str, Any]) -> Callable[[Any, str], Any]:
    """For a function that returns another one to be called in the place of the one that it was given."""
    calls = {**hook, **hook["returns"]}

    def wrap(original: Any, name: str) -> Any:
        def hooked(returned: Any) -> Any:
            return _in_operation(returned, name, calls)
        return _core.watch(original, 0, binds_to_instances(original), _roles.REPLACES, hooked)
    return wrap


def _around_what_it_makes(original: Any, makes: Dict[str, str]) -> Any:
    """For a function that returns what will be called: each such call is an operation, named by the
    argument that makes["operation"] names."""
    signature = inspect.signature(original)

    def name_calls(made: Any, arguments: Any, keywords: Any) -> Any:
        name = str(signature.bind(*arguments, **keywords).arguments[makes["operation"]])
        return _remote_call(made, name)

    @functools.wraps(original)
    def make(*arguments: Any, **keywords: Any) -> Any:
        made = original(*arguments, **keywords)
        return _failures.attempt(made, f"{original.__name__}: what it made is no operation",
                                 name_calls, made, arguments, keywords)
    make._gpubound_hook = True  # type: ignore[attr-defined]
    return make


def _around_what_it_finds(original: Any, finds: Dict[str, str]) -> Any:
    """For a function that returns a named tuple, whose field finds["function"] will be called: each such
    call is an operation, named by its field finds["operation"]."""
    def name_calls(found: Any) -> Any:
        function = getattr(found, finds["function"])
        if _core.wrapped(function) is not None:
            return found
        name = str(getattr(found, finds["operation"])).rpartition(".")[2]
        return found._replace(**{finds["function"]: _remote_call(function, name)})

    @functools.wraps(original)
    def find(*arguments: Any, **keywords: Any) -> Any:
        found = original(*arguments, **keywords)
        return _failures.attempt(found, f"{original.__name__}: what it found is no operation",
                                 name_calls, found)
    find._gpubound_hook = True  # type: ignore[attr-defined]
    return find


def _remote_call(function: Any, name: str) -> Any:
    """`function`, each call of which is the operation `name`, in layer python inside of whatever waits
    for calls; what Ray itself calls, and coroutines, which begin in their call, are not."""
    if name.startswith("__") or inspect.iscoroutinefunction(getattr(function, "method", function)):
        return function
    in_python = _core.watch(function, _api.layer("python", name).label, False, _roles.WORKS, None)
    operation = _core.wrap(in_python, _core.operation_label(_facts.RULES, name), False)
    return _core.watch(operation, 0, False, _roles.CLOSES, _ray.hold_channel)


def _before_profiler(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def start(*arguments: Any, **keywords: Any) -> Any:
        _failures.attempt(None, f"{name}: CUPTI is not handed over", _cupti.yield_to, name)
        return original(*arguments, **keywords)
    start._gpubound_hook = True  # type: ignore[attr-defined]
    return start


def user_folder() -> str:
    """Where a user's own hook files lie; startup/sitecustomize.py looks there for their names."""
    import os
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "gpubound", "hooks")


def load_libraries(folder: str, own: str = "") -> List[Library]:
    """Every hook file of `folder`, by name, and of the user's folder `own`, which may not exist: one of the same name
    takes the other's place. One that cannot be read is noted and left out."""
    import json
    import os
    files = {}
    for place in (folder, own) if os.path.isdir(own) else (folder,):
        for name in os.listdir(place):
            if name.endswith(".json"):
                files[name] = os.path.join(place, name)
    libraries = []
    for _, path in sorted(files.items()):
        try:
            with open(path, encoding="utf-8") as file:
                libraries.append(Library(json.load(file)))
        except Exception as error:  # pylint: disable=broad-except  # a user may write anything
            _failures.note(f"{path} is not used: {type(error).__name__}: {error}")
    return libraries


