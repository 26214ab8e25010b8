# SPDX-License-Identifier: Apache-2.0
"""Which ranks wait for which in collectives of torch.distributed. No rank knows when the others come, so
each says when it enters a collective and when its wait in it is over, under a number that all ranks of
the group count alike; who entered last shows when the run is read (docs/python.md).

What is counted: calls of a ProcessGroup's methods, as `torch.distributed`, FSDP and others make them, and
what DistributedDataParallel reduces within `backward()`, in native code, once for each `backward()`. The
engine calls us back when all gradients are computed; from then on that `backward()` is a wait.
"""
import hashlib
import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from gpubound import _api, _core, _failures, _roles
from gpubound._decorate import binds_to_instances

_SHARED = 1 << 62  # GPUBOUND_SHARED
_MOST_KINDS = 4096  # for each group: messages of one tag between two ranks are a kind of their own
_MOST_WORKS = 65536
_JOB = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")


class _Group:
    """What one process has done in a group of ranks."""

    __slots__ = ("label", "reduction", "_key", "_next")

    def __init__(self, name: str, size: int) -> None:
        self.label = _core.wait_label(f"collective:[{name}]")
        # Of these the rank is known to have come when it has waited for others, not before.
        self.reduction = _core.wait_label(f"reduction:[{name}]")
        self._key = " ".join([os.environ.get(variable, "-") for variable in _JOB] + [str(size), name])
        self._next: Dict[str, int] = {}

    def count(self, kind: str) -> Optional[int]:
        """What stands for the next collective of that kind, on every rank."""
        number = self._next.get(kind)
        if number is None:
            if len(self._next) >= _MOST_KINDS:
                return None
            digest = hashlib.blake2b(f"{self._key} {kind}".encode(), digest_size=8).digest()
            number = int.from_bytes(digest, "little")
        self._next[kind] = number + 1
        return number % _SHARED | _SHARED


_groups: Dict[str, _Group] = {}
_works: Dict[int, Tuple[int, int]] = {}  # what each Work is and the label of its wait, by its id
_reducing: "weakref.WeakSet[Any]" = weakref.WeakSet()  # modules that reduce within backward()


def _name_of(process_group: Any) -> str:
    try:
        return process_group.group_name
    except RuntimeError:  # torch sets none in a group that is a class in Python
        return sys.modules["torch.distributed.distributed_c10d"]._world.pg_names[process_group]


def _group_of(process_group: Any) -> _Group:
    name = _name_of(process_group)
    group = _groups.get(name)
    if group is None:
        group = _groups[name] = _Group(name, process_group.size())
    return group


def wrap(original: Any, name: str, hook: Dict[str, Any]) -> Any:
    """The wrapper for a hook with `collective`."""
    return _WRAPPERS[hook["collective"]](original, name)


def _wrap_start(original: Any, name: str) -> Any:
    """Of a method of a ProcessGroup that returns a Work."""
    kind_of = _KINDS.get(name.rpartition(".")[2], _kind_of_collective)

    def enter(group: Any, arguments: Tuple[Any, ...]) -> Optional[Tuple[int, int]]:
        known = _group_of(group)
        what = known.count(kind_of(group, arguments))
        if what is None:
            return None
        _core.wake(what)
        return what, known.label

    def start(group: Any, *arguments: Any, **keywords: Any) -> Any:
        entered = _failures.attempt(None, f"{name}: the collective is not counted", enter, group, arguments)
        work = original(group, *arguments, **keywords)
        if entered is not None and work is not None:
            if len(_works) >= _MOST_WORKS:  # that nobody waited for
                _works.clear()
            _works[id(work)] = entered
        return work
    return _like(start, original)


def _kind_of_collective(_: Any, __: Tuple[Any, ...]) -> str:
    return "collective"


def _kind_of_send(group: Any, arguments: Tuple[Any, ...]) -> str:
    _, to, tag = arguments
    return f"message {group.rank()} {to} {tag}"


def _kind_of_receive(group: Any, arguments: Tuple[Any, ...]) -> str:
    _, sender, tag = arguments
    return f"message {sender} {group.rank()} {tag}"


_KINDS: Dict[str, Callable[[Any, Tuple[Any, ...]], str]] = {
    "send": _kind_of_send, "recv": _kind_of_receive}


def _wrap_wait(original: Any, name: str) -> Any:
    """Of Work.wait()."""
    def wait(work: Any, *arguments: Any, **keywords: Any) -> Any:
        entered = _works.pop(id(work), None)
        result = original(work, *arguments, **keywords)
        if entered is not None:
            _core.woken(entered[0])
        return result

    def label_of(work: Any, *_: Any, **__: Any) -> int:
        entered = _works.get(id(work))
        return 0 if entered is None else entered[1]
    return _core.watch(_like(wait, original), _api.layer("wait", name).label, True, _roles.WAITS, label_of)


def _wrap_blocking(original: Any, name: str) -> Any:
    """Of a method of a ProcessGroup, or of something that has a `process_group`, that waits itself."""
    def group_of(owner: Any) -> _Group:
        return _group_of(getattr(owner, "process_group", owner))

    def enter(owner: Any) -> Optional[int]:
        what = group_of(owner).count(name)
        if what is not None:
            _core.wake(what)
        return what

    def block(owner: Any, *arguments: Any, **keywords: Any) -> Any:
        what = _failures.attempt(None, f"{name}: the collective is not counted", enter, owner)
        result = original(owner, *arguments, **keywords)
        if what is not None:
            _core.woken(what)
        return result

    def label_of(owner: Any, *_: Any, **__: Any) -> int:
        return group_of(owner).label
    return _core.watch(_like(block, original), _api.layer("wait", name).label, True, _roles.WAITS, label_of)


def _wrap_forward(original: Any, _: str) -> Any:
    """Of what DistributedDataParallel does after forward()."""
    def note(module: Any, *_: Any, **__: Any) -> None:
        _reducing.add(module)
    return _core.watch(original, 0, binds_to_instances(original), _roles.OPENS, note)


def _wrap_backward(original: Any, name: str) -> Any:
    """Of the function that runs autograd's engine."""
    def run(outputs: Any, *arguments: Any, **keywords: Any) -> Any:
        if not _reducing:
            return original(outputs, *arguments, **keywords)
        reduction = _failures.attempt(None, f"{name}: not seen to wait", _Reduction, outputs)
        try:
            return original(outputs, *arguments, **keywords)
        finally:
            if reduction is not None:
                _failures.attempt(None, f"{name}: its wait is not ended", reduction.end)
    return _like(run, original)


class _Reduction:
    """What modules reduce within one backward(). The engine runs callbacks in the order in which they were
    queued, when all gradients are there; the first is ours, those that wait for the reduction follow."""

    def __init__(self, outputs: Any) -> None:
        self._thread = threading.get_ident()
        self._groups = {}
        self._wait: Optional[Tuple[int, int]] = None
        for module in list(_reducing):
            self._groups[module.process_group] = (module.device, _started(module.process_group, module.device))
        nodes = (getattr(output, "grad_fn", None) for output in outputs)
        root = next((node for node in nodes if node is not None), None)
        self._hook = None if root is None or _is_traced() else root.register_prehook(self._queue)

    def _queue(self, _: Any) -> None:
        _failures.attempt(None, "a reduction is not seen", self._queue_callback)

    def _queue_callback(self) -> None:
        self.remove_hook()
        engine = sys.modules["torch.autograd"].Variable._execution_engine
        engine.queue_callback(self._begin)

    def _begin(self) -> None:
        _failures.attempt(None, "a reduction is not seen", self._enter)

    def _enter(self) -> None:
        for process_group, (device, before) in self._groups.items():
            if before is None or _started(process_group, device) == before:
                continue
            group = _group_of(process_group)
            what = group.count("reduction")
            if what is None:
                continue
            _core.wake(what)
            if self._wait is None and threading.get_ident() == self._thread:
                self._wait = what, group.reduction
                _core.begin(group.reduction)

    def remove_hook(self) -> None:
        """The graph may outlive this backward()."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def end(self) -> None:
        """backward() has returned, or raised."""
        self.remove_hook()
        if self._wait is not None:
            what, label = self._wait
            _core.woken(what)
            _core.end(label)


def _started(process_group: Any, device: Any) -> Optional[int]:
    """How many collectives were started in a group; None where its backend does not count."""
    try:
        return process_group._get_backend(device)._get_sequence_number_for_group()
    except (AttributeError, RuntimeError, TypeError):
        pass
    try:
        return process_group._get_sequence_number_for_group()
    except (AttributeError, RuntimeError):
        return None


def _is_traced() -> bool:
    """Whether torch compiles what the engine does: a hook would be part of that."""
    compiled = sys.modules.get("torch._dynamo.compiled_autograd")
    return bool(getattr(compiled, "compiled_autograd_enabled", False))


def _like(function: Any, original: Any) -> Any:
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(function, attribute, getattr(original, attribute))
        except (AttributeError, TypeError):
            pass
    function.__wrapped__ = original
    function._gpubound_hook = True
    return function


_WRAPPERS: Dict[str, Callable[[Any, str], Any]] = {
    "starts": _wrap_start, "waits": _wrap_wait, "blocks": _wrap_blocking,
    "prepares": _wrap_forward, "reduces": _wrap_backward}
