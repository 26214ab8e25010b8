# SPDX-License-Identifier: Apache-2.0
"""Version ranges of hook files: conditions such as ">=0.26,<2", all of which must hold."""
import operator
import re
from typing import Tuple

_COMPARISONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt,
                "==": operator.eq}


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
