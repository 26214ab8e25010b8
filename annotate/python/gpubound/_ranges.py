# SPDX-License-Identifier: Apache-2.0
"""Ranges that a library lets its users open, as annotations: a class with __enter__ and __exit__, one of
whose attributes is the name. The hook's `range` says which attribute; `own` are patterns of the names
that the library itself opens, which are of its domain and so never taken for operations.

The methods stay what they were (TorchScript compiles them from their source), so nothing is kept in
between: the label follows from the name alone.
"""
import fnmatch
import re
from typing import Any, Dict

from gpubound import _core, _loop, _roles
from gpubound._decorate import binds_to_instances

_MAX_LABELS = 4096  # what else a program makes up is looked up by the collector each time
_ROLES = {"__enter__": _roles.OPENS, "__exit__": _roles.CLOSES}


def wrap(original: Any, hook: Dict[str, Any]) -> Any:
    """The wrapper of one of the two methods."""
    attribute: str = hook["range"]
    domain: str = hook["module"].partition(".")[0]
    is_own = re.compile("|".join(map(fnmatch.translate, hook["own"]))).match
    labels: Dict[str, int] = {}

    def label_of(opened: Any, *_: Any) -> int:
        name = getattr(opened, attribute)
        label = labels.get(name)
        if label is None:
            own = bool(is_own(name))
            label = _core.annotation_label(domain if own else "", name)
            if own:
                _loop.add_library_range(label)
            if len(labels) < _MAX_LABELS:
                labels[name] = label
        return label
    return _core.watch(original, 0, binds_to_instances(original), _ROLES[original.__name__], label_of)
