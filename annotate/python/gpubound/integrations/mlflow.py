# SPDX-License-Identifier: Apache-2.0
"""gpubound's figures in MLflow: call `log()` in the loop, or hand a callback to the framework. They go
by its queue, so that a server that is slow does not hold the loop."""
from typing import Any, Dict, Optional

import mlflow

from gpubound.integrations import _callbacks, _follower


def log(step: Optional[int] = None) -> bool:
    """Logs the figures that are new since the last call, at `step`. Whether there were any."""
    figures = _follower.newest()
    if figures:
        _log(figures, step, None)
    return bool(figures)


def _log(figures: Dict[str, float], step: Optional[int], logger: Any) -> None:
    mlflow.log_metrics({_name(key): value for key, value in figures.items()}, step=step, synchronous=False)


def _name(key: str) -> str:
    """MLflow takes letters, digits and some marks."""
    return "".join(mark if mark.isalnum() or mark in "_-. /:" else "_" for mark in key)


def sb3_callback() -> Any:
    """For `model.learn(..., callback=)` of stable-baselines3."""
    return _callbacks.sb3(_log)


def lightning_callback() -> Any:
    """For `Trainer(callbacks=[...])` of Lightning."""
    return _callbacks.lightning(_log)


def trainer_callback() -> Any:
    """For `Trainer(callbacks=[...])` of transformers, and TRL's trainers."""
    return _callbacks.trainer(_log)
