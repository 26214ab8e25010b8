# SPDX-License-Identifier: Apache-2.0
"""Lists that several hooks of a file share. A file has them by name under `lists`; an item "@NAME" of a hook
stands for all items of the list NAME:

    {"lists": {"training_steps": ["train_step", "update"]},
     "hooks": [{"turns": ["@training_steps", "learn"], ...}]}

A list holds plain names, none of other lists, so that whoever reads a hook looks in one place.
"""
from typing import Any, Dict, List

_MARK = "@"


def expand(value: Any, lists: Dict[str, List[str]]) -> Any:
    """A hook, or a part of one, with the items of `lists` in the place of each reference.

    Raises ValueError, in words for the ledger, for a reference that leads nowhere.
    """
    if isinstance(value, dict):
        return {key: expand(part, lists) for key, part in value.items()}
    if isinstance(value, list):
        return [item for part in value for item in _items(part, lists)]
    if _is_reference(value):
        raise ValueError(f"{value!r} is no item of a list; write [\"{value}\"]")
    return value


def _items(part: Any, lists: Dict[str, List[str]]) -> List[Any]:
    if not _is_reference(part):
        return [expand(part, lists)]
    name = part[len(_MARK):]
    if name not in lists:
        known = ", ".join(sorted(lists)) or "none"
        raise ValueError(f"{part!r} is none of the file's lists, which are: {known}")
    items = lists[name]
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"the list {name!r} is no list of strings")
    nested = [item for item in items if _is_reference(item)]
    if nested:
        raise ValueError(f"the list {name!r} refers to {', '.join(nested)}; a list holds names only")
    return list(items)


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_MARK)
