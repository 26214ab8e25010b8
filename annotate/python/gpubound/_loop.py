# SPDX-License-Identifier: Apache-2.0
"""The training loop as its hooks show it: which iteration is open, and, in a script that no framework
structures, whether it collects experience or learns.

A single-file script steps environments, then calls backward(), then steps environments again. From
the first environment step on it is in `rollout`, from the first backward() in `update`, and the
environment step that ends an update ends the iteration. A learner that steps no environment (offline,
or fed by actors on other threads or in other processes), or hardly ever, is in `update` throughout, and
each step of the optimizer that leads ends an iteration. The two operations lie around those of the
hooks; a script that opens operations of its own is left alone, and one that calls gpubound.step() ends
its iterations itself.

What several threads may do at once is one operation of a dict or a list, which only one of them
succeeds with: no lock that a fork could leave behind closed. Threads are those of the system, as they
are where scopes are kept: to greenlets (gevent, eventlet) the `threading` module says that each is one.
"""
import atexit
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from gpubound import _api, _core, _facts

# Optimizer steps in a row without one of an environment, from which on each is an iteration. An update
# of an on-policy algorithm has some hundreds at most; an offline algorithm is evaluated after thousands.
_LONG_UPDATE = 1024
# Steps of one optimizer without one of the leading one, from which on it leads: one that is trained after
# another. A critic steps up to 20 times for each step of an actor.
_MANY_STEPS = 64
_rollout = _core.operation_label(_facts.STAGE, "rollout")
_update = _core.operation_label(_facts.STAGE, "update")
_library_ranges: Set[int] = set()  # labels


class _Loop:
    """What is known of the loop of this process."""

    def __init__(self) -> None:
        self.open_turns: List[None] = []  # an item for each that its next one or the end of the loop ends
        self.by_framework = False    # a framework says which its iterations are
        # "collector": the thread that was the first to step an environment; resetting one is no such step,
        # since it is done wherever environments are made. "learner": the one whose turns are the iterations.
        self.threads: Dict[str, int] = {}
        self.stages: Dict[int, int] = {}  # label of `rollout` or `update`, open on that thread
        self.fed = False        # others stepped environments since the learner last did
        self.each_step = False  # each step of the leading optimizer is a turn
        self.steps = 0          # of it, since the learner last stepped an environment
        self.leader: Callable[[], Any] = lambda: None  # the optimizer that is first to step
        self.others = 0         # steps of other ones since it last stepped
        self.rival: Callable[[], Any] = lambda: None  # the first of those, and how often it stepped
        self.rivalled = 0
        self.has_optimised = False
        self.has_turned = False     # an iteration ended, or a framework said which there are
        self.has_gradients = False  # backward() was called since the leading optimizer stepped
        self.has_lone_gradients = False  # backward() was called where nothing else says that this thread learns
        self.has_exit_handler = False
        self.worker: Optional[int] = None  # thread that does what this worker process is for
        self.around_worker = 0             # scopes that are open there as long as it does

    def around(self, thread: int) -> int:
        """How many scopes the loop has open on `thread` around all others: its worker's and its stage."""
        return (self.around_worker if thread == self.worker else 0) + (thread in self.stages)

    def depth(self, thread: int) -> int:
        """How many scopes are open on `thread`, the calling one, within those."""
        return int(_core.depth()) - self.around(thread)

    def enter(self, thread: int, stage: int) -> None:
        """Opens `stage` in place of what is open, unless the program has an operation or range open, which
        would end before the stage does. A range that a library has open, as a DataLoader's around a data set
        that plays episodes, is divided there."""
        if stage == self.stages.get(thread):
            return
        _watch_end_of(thread)
        between: Tuple[int, ...] = ()
        if self.depth(thread) == 1 and _core.innermost() in _library_ranges:
            between = _core.suspend(self.around(thread))
        if self.depth(thread) != 0:
            return
        self.leave(thread)
        self.stages[thread] = stage
        _core.begin(stage)
        _core.reopen(between)
        self.end_at_exit()

    def leave(self, thread: int) -> None:
        """Closes what is open on `thread`, the calling one; an update that is a turn ends with it."""
        stage = self.stages.pop(thread, None)
        if stage is None:
            return
        _core.end(stage)
        if stage == _update and not self.each_step:
            end_iteration()

    def stop_guessing(self) -> None:
        """A framework says what its iterations are."""
        self.by_framework = self.has_turned = True
        thread = _core.thread_ident()
        if thread in self.stages and self.depth(thread) == 0:
            _core.end(self.stages.pop(thread))

    def count_step(self) -> bool:
        """Of the leading optimizer; whether it ends a turn by itself."""
        self.steps += 1
        if self.steps == _LONG_UPDATE:
            self.each_step = True
        return self.each_step

    def is_led_by(self, optimizer: Any) -> bool:
        """Of several optimizers the first to step leads, until another one has often stepped without it."""
        if self.leader() is not optimizer:
            if self.leader() is not None and not self._succeeds(optimizer):
                return False
            self.leader = weakref.ref(optimizer)
        self.others = 0
        return True

    def _succeeds(self, optimizer: Any) -> bool:
        """Many that take turns each step once for each step of the leader: the first one of them counts."""
        if self.others == 0 or self.rival() is None:
            self.rival, self.rivalled = weakref.ref(optimizer), 0
        self.others += 1
        self.rivalled += self.rival() is optimizer
        return self.rivalled >= _MANY_STEPS or self.others >= _LONG_UPDATE

    def start_over(self) -> None:
        """For the next learner, with whichever optimizers and collector."""
        self.threads.clear()
        self.each_step = self.has_gradients = False
        self.steps = self.others = 0
        self.leader = lambda: None

    def end_at_exit(self) -> None:
        """The last turn ends with the program."""
        if not self.has_exit_handler:
            self.has_exit_handler = True
            atexit.register(_finish)


_loop = _Loop()
_of_thread = threading.local()


class _EndOfThread:
    """Kept by a thread, which lets go of it as the last thing that it does in Python."""

    __slots__ = ("_thread",)

    def __init__(self, thread: int) -> None:
        self._thread = thread

    def __del__(self, get_ident: Callable[[], int] = _core.thread_ident) -> None:
        if get_ident() == self._thread:  # else in a fork child, or where the interpreter ends
            _end_thread(self._thread)


def _watch_end_of(thread: int) -> None:
    """Of `thread`, the calling one; what the main thread did ends with the program."""
    if not hasattr(_of_thread, "end") and threading.get_native_id() != os.getpid():
        _of_thread.end = _EndOfThread(thread)


def _end_thread(thread: int) -> None:
    """The stage of `thread`, the calling one, ends with it, and with a learner its loop: the number of the
    thread, too, may be that of the next one."""
    _loop.leave(thread)
    if _loop.threads.get("learner") == thread:
        _end_open_turn()
        _loop.start_over()


def enter_worker(*_: Any, **__: Any) -> None:
    """What a worker process is for is about to begin, in a layer that is open around all of it."""
    _loop.worker = _core.thread_ident()
    _loop.around_worker = _core.depth() + 1


def end_iteration() -> None:
    """A turn ended, unless the program itself says when."""
    _loop.has_turned = True
    if not _api.steps_by_program():
        _api.end_iteration()


def begin_iteration() -> None:
    """A framework begins a turn of its loop: ends the one before. What came before the first one of a loop,
    making environments above all, is part of none."""
    _loop.stop_guessing()
    if not _loop.open_turns:
        _note_begin()
    _begin_turn()


def begin_first_turn() -> None:
    """A framework is about to make a turn of its loop: the first one begins here."""
    is_first = not _loop.has_turned
    _loop.stop_guessing()
    if is_first:
        _note_begin()


def _note_begin() -> None:
    if not _api.steps_by_program():
        _core.begin_iterations()


def _begin_turn() -> None:
    _end_open_turn()
    _loop.open_turns.append(None)


def _end_open_turn() -> None:
    try:
        _loop.open_turns.pop()
    except IndexError:
        return
    end_iteration()


def end_turn() -> None:
    """A framework ended a turn of its loop."""
    _loop.stop_guessing()
    end_iteration()


def end_iterations() -> None:
    """The framework's loop returned: ends its last turn."""
    _loop.by_framework = False
    _end_open_turn()


def add_library_range(label: int) -> None:
    """An annotation that a library opens by itself: the program has not said by it what it does."""
    _library_ranges.add(label)


def leave() -> None:
    """What the calling thread did is over, as a cell of a notebook is, and somebody else decides when
    it goes on: until then it neither collects nor learns, and the time is part of no iteration."""
    thread = _core.thread_ident()
    if _loop.depth(thread) == 0:
        _end_thread(thread)
    others = _loop.stages or _loop.open_turns  # of another thread, whose iterations go on
    if not others and (_loop.has_turned or _api.steps_by_program()):
        _core.begin_iterations()


def is_outermost() -> bool:
    """Whether no operation is open on this thread but what the loop itself has open."""
    return depth() == 0


def depth() -> int:
    """How many scopes are open on this thread within what the loop itself has open."""
    return _loop.depth(_core.thread_ident())


def suspend(kept: int) -> Tuple[int, ...]:
    """Closes the scopes of this thread beyond the first `kept` and what the loop itself has open; returns
    their labels."""
    return _core.suspend(max(kept, _loop.around(_core.thread_ident())))


def begin_jitted_turn(function: Any) -> None:
    """A jitted training step is about to be called, outside of any operation: what it learns from was
    collected before, or it is a turn of the loop by itself. Of several such functions the first one leads."""
    if _loop.by_framework:
        return
    thread = _core.thread_ident()
    if thread not in _loop.stages:
        _loop.each_step = True
    leads = _loop.is_led_by(function)
    if not (_loop.count_step() if leads else _loop.each_step):
        enter_update()
    elif leads:
        _begin_jitted_turn(thread)


def _begin_jitted_turn(thread: int) -> None:
    _loop.threads.setdefault("learner", thread)
    _watch_end_of(thread)
    _loop.leave(thread)
    _loop.end_at_exit()
    _begin_turn()


def enter_rollout() -> None:
    """An environment is about to be stepped, outside of any hook."""
    loop, thread = _loop, _core.thread_ident()
    if loop.by_framework:
        return
    learner = loop.threads.get("learner")
    collector = loop.threads.setdefault("collector", thread)
    if thread != (learner or collector):
        loop.fed = True
        return  # on the threads of a pool only some of the time would be rollout
    if loop.stages.get(thread) == _rollout or (thread == loop.worker and thread != learner):
        return  # what steps environments for others is rollout only where it does
    # What a learner steps itself, while others step environments for it, is an evaluation.
    alternates = loop.each_step and 0 < loop.steps < _LONG_UPDATE and not loop.fed
    loop.steps, loop.fed = 0, False
    loop.enter(thread, _rollout)
    if alternates:
        loop.each_step = False
        _end_open_turn()


def note_reset() -> None:
    """An environment is about to be reset, outside of any hook: part of a rollout where the thread also
    steps environments."""
    if _loop.threads.get("collector") == _core.thread_ident():
        enter_rollout()


def enter_update() -> None:
    """backward() is about to be called, outside of any hook."""
    loop, thread = _loop, _core.thread_ident()
    if loop.by_framework:
        return
    if "learner" not in loop.threads:
        collects = thread == loop.threads.get("collector")
        if not collects and not loop.has_optimised:
            loop.has_lone_gradients = True
            loop.end_at_exit()
            return  # a framework says only after the first turn that it has turns
        if loop.threads.setdefault("learner", thread) == thread and not collects:
            loop.each_step = True
    if thread == loop.threads["learner"]:
        loop.has_gradients = True
        loop.enter(thread, _update)


def is_in_rollout() -> bool:
    """Whether `rollout` is open on this thread: an optimizer that steps there was given its gradients without
    a backward(), by a search or a CUDA graph."""
    return _loop.stages.get(_core.thread_ident()) == _rollout


def note_optimizer(optimizer: Any, *_: Any, **__: Any) -> None:
    """An optimizer has stepped."""
    loop, thread = _loop, _core.thread_ident()
    loop.has_optimised = True
    if loop.by_framework or loop.stages.get(thread) != _update or not loop.is_led_by(optimizer):
        return
    # The step of a derived class may call that of its base, for which there are no new gradients.
    if loop.has_gradients:
        loop.has_gradients = False
        if loop.count_step():
            end_iteration()


def _note_what_is_missing() -> None:
    """Who reads the stages would take them for all that the program does."""
    loop = _loop
    if loop.has_turned or "learner" in loop.threads or _api.steps_by_program():
        return
    if "collector" in loop.threads:
        _core.ledger("", 0, "nothing was seen to learn: all from the first step of an environment on is in rollout, "
                     "and no iteration is known (docs/python.md, Without an edit)")
    elif loop.has_lone_gradients and not loop.has_optimised:
        _core.ledger("", 0, "backward() was called, but no optimizer of torch.optim stepped: neither update nor "
                     "iterations are known (docs/python.md, Without an edit)")


def _finish() -> None:
    _note_what_is_missing()
    _loop.leave(_core.thread_ident())
    end_iterations()


def forget_in_fork_child() -> None:
    """The child has a loop of its own, if any; what the forking thread had open around it ends here."""
    global _loop
    thread = _core.thread_ident()
    stage = _loop.stages.get(thread)
    if stage is not None and _loop.depth(thread) == 0:
        _core.end(stage)
    parent, _loop = _loop, _Loop()
    _loop.has_exit_handler = parent.has_exit_handler
    _loop.worker, _loop.around_worker = parent.worker, parent.around_worker
