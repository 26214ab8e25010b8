# SPDX-License-Identifier: Apache-2.0
"""What of ours fails inside a program: it goes into the ledger, and the program never sees it. What is to
end the program (KeyboardInterrupt, SystemExit) passes."""
from typing import Any, Callable, Set

from gpubound import _core

_MAX_TEXTS = 256  # of failures that may come again with each call
_told: Set[str] = set()


def note(text: str) -> None:
    """Into the ledger, with what was to be hooked and why it was not."""
    _core.ledger("hooks_failed", 1, text.encode(errors="backslashreplace").decode())


def attempt(instead: Any, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """function(*arguments), or `instead` where it raises, which is noted once with `what` was done."""
    try:
        return function(*arguments)
    except Exception as error:  # pylint: disable=broad-except  # never the program's business
        _note_once(f"{what}: {_words_of(error)}")
        return instead


def _words_of(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # pylint: disable=broad-except  # its __str__ is the program's
        return type(error).__name__


def _note_once(text: str) -> None:
    if text not in _told and len(_told) < _MAX_TEXTS:
        _told.add(text)
        note(text)
