# SPDX-License-Identifier: Apache-2.0
"""gpubound's figures in TensorBoard: call `log()` in the loop, or hand a callback to the framework."""
from typing import Any, Dict, Optional

from gpubound.integrations import _callbacks, _follower


def log(writer: Any, step: Optional[int] = None) -> bool:
    """Writes the figures that are new since the last call with `writer`, a SummaryWriter, at `step`. Whether there were
    any."""
    figures = _follower.newest()
    if figures:
        _write(figures, step, writer)
    return bool(figures)


def _write(figures: Dict[str, float], step: Optional[int], writer: Any) -> None:
    for name, value in figures.items():
        writer.add_scalar(name, value, step)


def _record(figures: Dict[str, float], step: Optional[int], logger: Any) -> None:
    """By stable-baselines3's own logger, which writes at its next dump."""
    for name, value in figures.items():
        logger.record(name, value)


def _log_by_lightning(figures: Dict[str, float], step: Optional[int], logger: Any) -> None:
    if logger is not None:
        logger.log_metrics(figures, step=step)


def sb3_callback() -> Any:
    """For `model.learn(..., callback=)` of stable-baselines3, whose model has a `tensorboard_log`."""
    return _callbacks.sb3(_record)


def lightning_callback() -> Any:
    """For `Trainer(callbacks=[...])` of Lightning; by the logger that the trainer has."""
    return _callbacks.lightning(_log_by_lightning)


def trainer_callback(writer: Any) -> Any:
    """For `Trainer(callbacks=[...])` of transformers, and TRL's trainers; by `writer`, a SummaryWriter."""
    return _callbacks.trainer(lambda figures, step, logger: _write(figures, step, writer))
