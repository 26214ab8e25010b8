# SPDX-License-Identifier: Apache-2.0
"""gpubound's figures in Weights & Biases: call `log()` in the loop, or hand a callback to the framework. They are
of the step that the program logs next."""
from typing import Any, Dict, Optional

import wandb

from gpubound.integrations import _callbacks, _follower


def log(step: Optional[int] = None) -> bool:
    """Logs the figures that are new since the last call, at `step`. Whether there were any."""
    figures = _follower.newest()
    if figures:
        _log(figures, step, None)
    return bool(figures)


def _log(figures: Dict[str, float], step: Optional[int], logger: Any) -> None:
    # A step of its own would have to grow with all others that the program logs.
    run = wandb.run
    if run is not None:
        run.log(figures if step is None else {**figures, "gpubound/step": step}, commit=False)


def sb3_callback() -> Any:
    """For `model.learn(..., callback=)` of stable-baselines3."""
    return _callbacks.sb3(_log)


def lightning_callback() -> Any:
    """For `Trainer(callbacks=[...])` of Lightning."""
    return _callbacks.lightning(_log)


def trainer_callback() -> Any:
    """For `Trainer(callbacks=[...])` of transformers, and TRL's trainers."""
    return _callbacks.trainer(_log)
