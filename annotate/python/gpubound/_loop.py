# SPDX-License-Identifier: Apache-2.0
"""The training loop as its hooks show it: which iteration is open, and, in a script that no framework
structures, whether it collects experience or learns.

A single-file script steps environments, then calls backward(), then steps environments again. From
the first environment step on it is in `rollout`, from the first backward() in `update`, and the
environment step that ends an update ends the iteration. The two operations lie around those of the
hooks; a script that opens operations of its own is left alone.
"""
import atexit
import threading
from typing import Optional

from gpubound import _api, _core

_open_iteration = False
_thread: Optional[int] = None  # the one whose loop it is: the first to step an environment
_stage: Optional[_core.Scope] = None
_rollout = _core.operation("rollout")
_update = _core.operation("update")


def begin_iteration() -> None:
    """A framework begins a turn of its loop: ends the one before."""
    global _open_iteration
    if _open_iteration:
        _api.step()
    _open_iteration = True


def end_iterations() -> None:
    """The framework's loop returned: ends its last turn."""
    global _open_iteration
    if _open_iteration:
        _api.step()
    _open_iteration = False


def is_outermost() -> bool:
    """Whether no operation is open on this thread but what the loop itself has open."""
    own_stage = _stage is not None and _thread == threading.get_ident()
    return _core.depth() == (1 if own_stage else 0)


def begin_jitted_turn() -> None:
    """A jitted training step is about to be called, outside of any operation: what it learns from was
    collected before, or it is a turn of the loop by itself."""
    if _stage is not None:
        enter_update()
        return
    if not _open_iteration:
        atexit.register(end_iterations)
    begin_iteration()


def enter_rollout() -> None:
    """An environment is about to be stepped, outside of any hook."""
    _enter(_rollout)


def enter_update() -> None:
    """backward() is about to be called, outside of any hook."""
    if _stage is not None:
        _enter(_update)


def _enter(stage: _core.Scope) -> None:
    global _stage, _thread
    if stage is _stage or (_thread is not None and _thread != threading.get_ident()):
        return
    if _core.depth() != (0 if _stage is None else 1):
        return
    _leave()
    if _thread is None:
        _thread = threading.get_ident()
        atexit.register(_finish)
    _stage = stage
    stage.__enter__()


def _leave() -> None:
    global _stage
    if _stage is None:
        return
    _stage.__exit__()
    if _stage is _update:
        _api.step()
    _stage = None


def _finish() -> None:
    if _thread == threading.get_ident():
        _leave()


def forget_in_fork_child() -> None:
    """The child has a loop of its own, if any."""
    global _stage, _thread, _open_iteration
    _stage, _thread, _open_iteration = None, None, False
