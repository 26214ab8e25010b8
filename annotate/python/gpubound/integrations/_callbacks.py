# SPDX-License-Identifier: Apache-2.0
"""Callbacks of frameworks that log new figures: the same for each dashboard, which gives what logs."""
from typing import Any, Callable, Dict, Optional

from gpubound.integrations import _follower

Log = Callable[[Dict[str, float], Optional[int], Any], None]  # figures, step, what the framework logs with


def _log_newest(log: Log, step: Optional[int], logger: Any) -> None:
    figures = _follower.newest()
    if figures:
        log(figures, step, logger)


def sb3(log: Log) -> Any:
    """A stable_baselines3 BaseCallback: looks after every rollout, and at the step that the model counts."""
    from stable_baselines3.common.callbacks import BaseCallback

    class GpuboundCallback(BaseCallback):
        def _on_training_start(self) -> None:
            _follower.start()

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            _log_newest(log, self.num_timesteps, self.logger)
    return GpuboundCallback()


def lightning(log: Log) -> Any:
    """A Lightning Callback: looks after every batch, and at the global step."""
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback

    class GpuboundCallback(Callback):
        def on_train_start(self, trainer: Any, module: Any) -> None:
            _follower.start()

        def on_train_batch_end(self, trainer: Any, module: Any, *batch: Any, **named: Any) -> None:
            _log_newest(log, trainer.global_step, trainer.logger)
    return GpuboundCallback()


def trainer(log: Log) -> Any:
    """A transformers TrainerCallback, which TRL's trainers take: looks after every step."""
    from transformers import TrainerCallback

    class GpuboundCallback(TrainerCallback):
        def on_train_begin(self, arguments: Any, state: Any, control: Any, **named: Any) -> None:
            _follower.start()

        def on_step_end(self, arguments: Any, state: Any, control: Any, **named: Any) -> None:
            _log_newest(log, state.global_step, None)
    return GpuboundCallback()
