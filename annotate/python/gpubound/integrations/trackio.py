# SPDX-License-Identifier: Apache-2.0
"""gpubound's figures in Trackio: call `log()` in the loop, or hand a callback to the framework. """
from typing import Any, Dict, Optional

import trackio

from gpubound.integrations import _callbacks, _follower


def log(step: Optional[int] = None) -> bool:
    """Logs the figures that are new since the last call, at `step`. Whether there were any."""
    figures = _follower.newest()
    if figures:
        _log(figures, step, None)
    return bool(figures)


def _log(figures: Dict[str, float], step: Optional[int], logger: Any) -> None:
    trackio.log(figures, step=step)


def sb3_callback() -> Any:
    """For `model.learn(..., callback=)` of stable-baselines3."""
    return _callbacks.sb3(_log)


def lightning_callback() -> Any:
    """For `Trainer(callbacks=[...])` of Lightning."""
    return _callbacks.lightning(_log)


def trainer_callback() -> Any:
    """For `Trainer(callbacks=[...])` of transformers, and TRL's trainers."""
    return _callbacks.trainer(_log)
