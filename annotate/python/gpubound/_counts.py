# SPDX-License-Identifier: Apache-2.0
"""Numbers that a framework keeps of its training, as the counters that gpubound.policy_version() and its
like record: after a call of a hooked function they are read from its arguments or from what it returned.

Where a number lies is a path: a parameter of the function, or `returned`, and then items and attributes.
"self.version", "batch.samples", "returned.0.tags". A number counts as it is, a container by its length; None
is not recorded. In the place of a path a number may stand: each call counts so many. Nothing is computed and
nothing copied, so that no tensor of a GPU is waited for.
"""
import inspect
import numbers
from typing import Any, Callable, Dict, List, Mapping, Optional

from gpubound import _core, _failures, _roles
from gpubound._decorate import binds_to_instances

_RETURNED = "returned"


def wrap(called: Any, original: Any, name: str, hook: Dict[str, Any]) -> Any:
    """`called`, the wrapper of `original`, with the hook's `counters` and `consumed` recorded after each
    call that returned. Of a coroutine, when it has returned. ValueError for a path that begins nowhere."""
    record = _recorder(hook, inspect.signature(original))
    what = f"{name}: a counter is not recorded"

    def call(*arguments: Any, **keywords: Any) -> Any:
        result = called(*arguments, **keywords)
        _failures.attempt(None, what, record, arguments, keywords, result)
        return result

    async def call_and_wait(*arguments: Any, **keywords: Any) -> Any:
        result = await called(*arguments, **keywords)
        _failures.attempt(None, what, record, arguments, keywords, result)
        return result
    instead = call_and_wait if inspect.iscoroutinefunction(original) else call
    return _core.watch(called, 0, binds_to_instances(original), _roles.CHOOSES, (object, instead))


def _recorder(hook: Dict[str, Any], signature: inspect.Signature) -> Callable[[Any, Any, Any], None]:
    counters = [(counter, _source(path, signature)) for counter, path in hook.get("counters", {}).items()]
    consumed = hook.get("consumed")
    samples = _path(consumed["samples"], signature) if consumed else []
    version = consumed.get("version", "").split(".") if consumed else []
    only: Dict[str, Any] = hook.get("only", {})
    for parameter in only:
        _path(parameter, signature)

    def record(arguments: Any, keywords: Any, result: Any) -> None:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        roots = {**bound.arguments, _RETURNED: result}
        if any(roots[parameter] != value for parameter, value in only.items()):
            return
        for counter, source in counters:
            number = _number(source(roots))
            if number is not None and (number != 0 or counter == "policy_version"):
                _core.counter(counter, number)
        if consumed:
            _record_consumed(_follow(roots, samples), version)
    return record


def _record_consumed(samples: Any, version: List[str]) -> None:
    """As gpubound.consumed() for each version: the number of samples that it made."""
    by_version: Dict[Optional[float], int] = {}
    for sample in samples if samples is not None else ():
        made_by = _number(_follow(sample, version))
        by_version[made_by] = by_version.get(made_by, 0) + 1
    for made_by, number in by_version.items():
        if made_by is not None:
            _core.counter("consumed_version", made_by)
        _core.counter("consumed_samples", number)


def _source(text: Any, signature: inspect.Signature) -> Callable[[Any], Any]:
    if isinstance(text, numbers.Real):
        return lambda _: text
    path = _path(text, signature)
    return lambda roots: _follow(roots, path)


def _path(text: Any, signature: inspect.Signature) -> List[str]:
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no path such as \"self.version\"")
    path = text.split(".")
    if path[0] != _RETURNED and path[0] not in signature.parameters:
        known = ", ".join([*signature.parameters, _RETURNED])
        raise ValueError(f"{text!r} begins with none of {known}")
    return path


def _follow(value: Any, path: List[str]) -> Any:
    for part in path:
        if value is None:
            return None
        if isinstance(value, Mapping):
            value = value.get(part)
        elif part.isdigit():
            value = value[int(part)]
        else:
            value = getattr(value, part)
    return value


def _number(value: Any) -> Optional[float]:
    """None where there is none: a version may be a name."""
    if value is None or isinstance(value, numbers.Real):
        return value  # type: ignore[return-value]  # which C takes for a float
    if isinstance(value, str):
        return int(value) if value.isdigit() else None
    return len(value)
