# SPDX-License-Identifier: Apache-2.0
"""Versions of libraries, and the ranges of hook files: conditions such as ">=0.26,<2", all of which must
hold."""
import operator
import os
import re
import sys
from typing import List, Optional, Tuple

_COMPARISONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt,
                "==": operator.eq}
_VERSION_LINE = re.compile(r"""^__version__[^=\n]*=\s*["']([^"'\n]+)["']""", re.MULTILINE)


def release(version: str) -> Tuple[int, ...]:
    """The leading numbers of a version, without trailing zeros: "2.0.1+cpu" is (2, 0, 1)."""
    match = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def is_within(version: str, conditions: str) -> bool:
    """Whether `version` meets every condition; ValueError for one that is not understood."""
    for condition in conditions.split(","):
        match = re.fullmatch(r"\s*(>=|<=|==|<|>)\s*(\d[\d.]*)\s*", condition)
        if match is None:
            raise ValueError(f"version condition {condition!r}; expected one like '>=1.2'")
        if not _COMPARISONS[match.group(1)](release(version), release(match.group(2))):
            return False
    return True


def find(distributions: List[str], package: str) -> str:
    """The version of the first of `distributions` that is installed, else what `package`, which is being
    imported, says of itself: a checkout on PYTHONPATH is no distribution. LookupError for neither."""
    from importlib import metadata  # it takes longer than all of ours
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    version = getattr(module, "__version__", None) or (_version_in_source(file) if file else None)
    if version is None:
        raise LookupError(f"no version of {package} is known: no distribution {' or '.join(distributions)} "
                          "is installed, and it has no __version__")
    return str(version)


def _version_in_source(path: str) -> Optional[str]:
    """Packages set their __version__ last, when what is hooked has been imported already."""
    for name in ("__init__.py", "_version.py", "version.py"):
        try:
            with open(os.path.join(os.path.dirname(path), name), encoding="utf-8") as file:
                match = _VERSION_LINE.search(file.read())
        except (OSError, UnicodeError):
            continue
        if match is not None:
            return match.group(1)
    return None
