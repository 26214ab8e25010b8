# SPDX-License-Identifier: Apache-2.0
"""The annotation calls that are not scopes of operations. Any thread; nothing is recorded, and
arguments are still checked, where no collector runs."""
import functools
import inspect
import json
import operator
import os
from types import MappingProxyType
from typing import Any, Callable, List, Mapping, Optional, SupportsIndex, TypeVar, cast

from gpubound import _core

# Values of gpubound_layer in gpubound/api.h.
LAYERS = {"python": 1, "wait": 2, "native": 3, "simulator": 4, "backend": 5}

_Function = TypeVar("_Function", bound=Callable[..., Any])

_NO_PHASE = "(no phase)"  # as reports call the time before the first

_NUMBERS = 2**64  # of iterations, as the C table takes them
_steps_by_program = False
after_iterations: List[Callable[[], None]] = []  # what is done when one has ended

# Names in analysis/attribution/process_role.h, in the order in which data flows.
ROLES = ("environment", "rollout", "reward", "data", "train")
_role_by_program = 0  # the process that said one
_role_taken = (0, "")  # likewise, of a hook


def recording() -> bool:
    """Whether a collector records this process."""
    return bool(_core.recording)


def layer(name: str, reason: str = "", /) -> _core.Scope:
    """The scope of a layer: what the thread executes, whichever operation owns the time.

    `name` is one of python, wait, native, simulator, backend; `reason` says what is called or waited
    for. A scope like that of operation(): `with gpubound.layer("wait", "replay buffer"):`.

    Raises ValueError for an unknown layer and TypeError if `reason` is not a str.
    """
    return _core.layer_scope(layer_number(name), reason or name)


def layer_number(name: str) -> int:
    """How the C table knows the layer. Raises ValueError for an unknown one."""
    number = LAYERS.get(name)
    if number is None:
        raise ValueError(f"unknown layer {name!r}; expected one of {', '.join(LAYERS)}")
    return number


class phase:  # a function to its users
    """Begins a phase of the whole process: warmup, self-play, update...

    As a statement, `gpubound.phase("warmup")`, it holds until the next phase; in
    `with gpubound.phase("evaluation"):` until the end of the block, where the phase from before begins
    again. `gpubound.phase(None)` ends the phase: time after it is "(no phase)", as before the first.
    As a decorator, `@gpubound.phase("evaluation")`, it is that of each call of the function; of a coroutine
    until what it returns was awaited.

    Raises TypeError if the name is neither a str nor None.
    """

    __slots__ = ("_before", "_name")

    def __init__(self, name: Optional[str], /) -> None:
        self._name = name
        self._before = _core.phase(_NO_PHASE if name is None else name)

    def __call__(self, function: _Function, /) -> _Function:
        self.__exit__()  # it begins with the first call
        name = self._name
        if inspect.iscoroutinefunction(function):
            async def awaited(*arguments: Any, **keywords: Any) -> Any:
                with phase(name):
                    return await function(*arguments, **keywords)
            return cast(_Function, functools.wraps(function)(awaited))

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            with phase(name):
                return function(*arguments, **keywords)
        return cast(_Function, called)

    def __enter__(self) -> "phase":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before == 0:
            _core.phase(_NO_PHASE)
        else:
            _core.resume_phase(self._before)


def step(iteration: Optional[SupportsIndex] = None, /, **counters: float) -> None:
    """Ends one turn of the training loop.

    `iteration` is its number, of any integer type; without one they are counted on from the last, at
    first from 0 (and after 2**64 - 1 again). Each keyword is a counter, as in
    `gpubound.step(env_steps=2048)`: counter("env_steps", 2048).

    Raises TypeError if `iteration` is no integer, OverflowError if it is negative or beyond 64 bits;
    then nothing is recorded, and the next step() counts on as if it had not been called.
    """
    global _steps_by_program
    number = None if iteration is None else operator.index(iteration)
    if number is not None and not 0 <= number < _NUMBERS:
        raise OverflowError(f"iteration {number} is not in 0 to 2**64 - 1")
    _steps_by_program = True
    for name, value in counters.items():
        _core.counter(name, value)
    _end(number)


def end_iteration() -> None:
    """What step() does without arguments, for a hook that found where an iteration ends."""
    _end(None)


def _end(number: Optional[int]) -> None:
    _core.step(number)
    for action in after_iterations:
        action()


def steps_by_program() -> bool:
    """Whether the program itself has called step()."""
    return _steps_by_program


def counter(name: str, value: float, /) -> None:
    """Records the value that a quantity has now, in whatever unit its name says.

    Raises TypeError if `name` is not a str or `value` not a number.
    """
    _core.counter(name, value)


def metric(name: str, value: float, /) -> None:
    """Records a result of the training as it has now come out: the return of an episode, a loss.

    It is a counter. `gpubound report --target 'return>=450'` says when the mean of its last ten records
    reached that, and where the time went until then.

    Raises TypeError if `name` is not a str or `value` not a number.
    """
    _core.counter(name, value)


def flops(*, per_iteration: float, peak_per_second: Optional[float] = None) -> None:
    """Says how many floating-point operations the model of this process takes in one iteration, so that
    reports can say how much of the GPU's peak that is (MFU). It holds until it is said anew.

    `peak_per_second` is what one GPU reaches at most. Without it reports take the peak of its matrix
    products of 16-bit floats, where they know the GPU.

    Raises TypeError if either is not a number.
    """
    _core.counter("flops_per_iteration", per_iteration)
    if peak_per_second is not None:
        _core.counter("flops_peak_per_second", peak_per_second)


def policy_version(version: SupportsIndex, /) -> None:
    """Says that from here on this process trains, or acts by, policy `version`: one more after each update.

    Raises TypeError if `version` is no integer.
    """
    _core.counter("policy_version", operator.index(version))


def consumed(*, samples: float, version: Optional[SupportsIndex] = None) -> None:
    """Says that the training consumed `samples` samples, which policy `version` had made.

    Samples that are used several times count the first time.

    Raises TypeError if `samples` is not a number or `version` no integer.
    """
    number = samples + 0.0  # before anything is recorded: the two belong together
    if version is not None:
        _core.counter("consumed_version", operator.index(version))
    _core.counter("consumed_samples", number)


def discarded(*, samples: float, reason: str = "") -> None:
    """Says that `samples` samples were thrown away before the training consumed them. `reason` is one of a
    few words, such as "stale" or "truncated".

    Raises TypeError if `samples` is not a number or `reason` not a str.
    """
    if not isinstance(reason, str):
        raise TypeError(f"discarded() takes a str as reason, not {type(reason).__name__}")
    _core.counter(f"discarded_samples:{reason}" if reason else "discarded_samples", samples)


def role(name: str, /) -> None:
    """Says what this process does in the training from here on, until it says something else:
    "environment", "rollout" (it makes samples), "reward", "data" (a replay buffer, a loader) or "train".

    The first one holds for the time before it too. A process that does several in turn says so each time.

    Raises TypeError if `name` is not a str, ValueError if it is none of these.
    """
    if not isinstance(name, str):
        raise TypeError(f"role() takes a str, not {type(name).__name__}")
    if name not in ROLES:
        raise ValueError(f"role {name!r} is none of {', '.join(ROLES)}")
    global _role_by_program
    _role_by_program = os.getpid()
    _core.counter(f"role:{name}", 1)


def take_role(name: str) -> None:
    """What a hook says before every call of what it wraps: once for each change, and nothing where the program
    itself says it. A fork child begins anew."""
    global _role_taken
    process = os.getpid()
    if _role_by_program == process or _role_taken == (process, name):
        return
    _role_taken = (process, name)
    _core.counter(f"role:{name}", 1)


def progress(done: float, total: float, /) -> None:
    """Says how far the training is: `done` of `total`, in the same unit (time steps, epochs).

    Recorded as the counters progress_done and progress_total.
    """
    _core.counter("progress_done", done)
    _core.counter("progress_total", total)


def metadata(values: Mapping[str, Any] = MappingProxyType({}), /, **more: Any) -> None:
    """Notes facts about the run (algorithm, environment, seed) that its report shall show, as a mapping,
    as keywords or as both: `gpubound.metadata(vars(args), algorithm="PPO")`.

    Values are written as JSON; what JSON cannot express (an object, a tuple as a key, a dict that
    holds itself), as its repr(), and what has none, as the name of its type. At most 1000 notes are
    kept per process, each of 4096 bytes.

    Raises TypeError if `values` is no mapping; vars() makes one of an argparse.Namespace.
    """
    if not hasattr(values, "items"):
        raise TypeError(f"metadata() takes a mapping, not {type(values).__name__} "
                        "(vars(), say, makes one of it)")
    for key, value in [*values.items(), *more.items()]:
        name = json.dumps(_text_of(key, str))[1:-1]
        _core.ledger("", 0, f"metadata {name} = {_json_of(value)}")


def _json_of(value: Any) -> str:
    try:
        return json.dumps(value, default=_text_of, ensure_ascii=True)
    except Exception:  # pylint: disable=broad-except  # no fact is worth a failing program
        return json.dumps(_text_of(value), ensure_ascii=True)


def _text_of(value: Any, convert: Callable[[Any], str] = repr) -> str:
    try:
        return convert(value)
    except Exception:  # pylint: disable=broad-except  # that of a __repr__ of the program
        return f"<{type(value).__name__}>"


def pause() -> None:
    """From here to resume(), GPU time of this process is reported as unknown.

    For work that does not belong to what is measured, such as an evaluation. Scopes go on being
    recorded.
    """
    _core.pause()


def resume() -> None:
    """Ends what pause() began."""
    _core.resume()


def hand_over() -> int:
    """A token for the innermost open operation of this thread; 0 where none is open.

    Another thread that works for the operation opens it there: `with gpubound.adopt(token):`.
    """
    return _core.hand_over()


class adopt:  # a function to its users
    """Opens on this thread the operation that another thread handed over; see hand_over()."""

    __slots__ = ("_token",)

    def __init__(self, token: int, /) -> None:
        if not isinstance(token, int):
            raise TypeError(f"adopt() takes what hand_over() returned, not {type(token).__name__}")
        self._token = token

    def __enter__(self) -> "adopt":
        _core.adopt(self._token)
        return self

    def __exit__(self, *exception: object) -> None:
        _core.drop(self._token)
