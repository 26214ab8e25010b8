# SPDX-License-Identifier: Apache-2.0
"""Name what a training program does, so that gpubound can say where the time of it went.

    import gpubound

    for iteration in range(iterations):
        with gpubound.operation("simulation"):
            observations = environments.step(actions)
        with gpubound.operation("inference"):
            actions = policy(observations)
        gpubound.step(env_steps=len(observations))

Run the program under `gpubound run -- python train.py`. Without a running collector everything here
does nothing. Known libraries are annotated without an edit; see gpubound/hooks.

Runs are read by `gpubound.open("train.gpubound")`; see gpubound.runs.
"""
import os
from typing import TYPE_CHECKING, Any, Union

from gpubound._api import (adopt, consumed, counter, discarded, flops, hand_over, layer, metadata,
                           metric, pause, phase, policy_version, progress, recording, resume, role, step)
from gpubound._core import Scope, operation
from gpubound._core import version as __version__  # noqa: F401  # no part of __all__: `import *` leaves it alone
from gpubound._intercept import Interception, intercept
from gpubound._ray import ray_runtime_env
from gpubound._summary import summary

__all__ = [
    "Interception", "Scope", "adopt", "consumed", "counter", "discarded", "flops", "hand_over",
    "intercept", "layer", "metadata", "metric", "operation", "pause", "phase", "policy_version",
    "progress", "ray_runtime_env", "recording", "resume", "role", "step", "summary",
]

if TYPE_CHECKING:
    from gpubound.runs import DataQuality, Run, RunError, Table  # noqa: F401


def open(path: "Union[str, os.PathLike[str]]") -> "Run":  # no part of __all__ either: it would hide Python's own
    """Opens the run directory at `path` to be read: `run = gpubound.open("train.gpubound")`.

    In a notebook the run shows itself. `run.operations`, `run.iterations`, `run.table("gpu")` and so on are tables
    that pandas, polars, pyarrow and DuckDB take; `run.report()` is the report as a dict; `help(gpubound.runs)` says
    the rest. A run that goes on is read as far as it was written; open it again for more.

    Raises gpubound.RunError, which says what to do, where the run cannot be read.
    """
    from gpubound.runs import open_run  # here: what records runs does not load what reads them
    return open_run(path)


def __getattr__(name: str) -> Any:
    if name in ("DataQuality", "Run", "RunError", "Table"):
        from gpubound import runs
        return getattr(runs, name)
    raise AttributeError(f"module 'gpubound' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext gpubound` in a notebook: `%%gpubound` records a cell and shows what limits it."""
    from gpubound import _notebook
    _notebook.load(shell)
