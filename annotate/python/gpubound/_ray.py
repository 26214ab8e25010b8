# SPDX-License-Identifier: Apache-2.0
"""Ray: what workers of a cluster need to be recorded into this run, and who makes what is waited for.

Whom ray.get waits for follows from the ids: that of an object contains the id of the actor whose method
makes it, or, of a task's object, one that stands for all tasks of the job. Each worker says which of
these it is when it is first called.
"""
import os
import sys
from typing import Any, Dict, Iterable, List, Mapping, Optional

from gpubound import _core

_OF_ONE_HOST = ("GPUBOUND_END_NS",)  # a time of this host's clock, which counts from its start
_MAX_MAKERS = 64  # of one wait: more do not fit into its name
_held: List[str] = []  # what this process has said that it is
_LOADERS = ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")


def ray_runtime_env(runtime_env: Optional[Mapping[str, Any]] = None, /) -> Dict[str, Any]:
    """`runtime_env` with the variables added that make Ray start its workers under gpubound.

        ray.init(runtime_env=gpubound.ray_runtime_env({"pip": ["optuna"]}))

    Not needed where the program under `gpubound run` starts Ray itself: workers inherit. Every host must
    see the run directory and gpubound under the same paths. Workers that get these variables record to
    their end, also under `gpubound run --duration`. Variables that `runtime_env` has stay. A
    copy of it where nothing is recorded.
    """
    merged = dict(runtime_env or {})
    ours = {name: value for name, value in os.environ.items()
            if (name.startswith("GPUBOUND_") and name not in _OF_ONE_HOST)
            or (name in _LOADERS and "libgpubound" in value)}
    if "GPUBOUND_RUN" in ours:
        merged["env_vars"] = {**ours, **merged.get("env_vars", {})}
    return merged


def makers_of(references: Iterable[Any]) -> List[str]:
    """Channels of the others who make the objects that are referred to, in order; none where that is not
    known, as of references to compiled graphs."""
    try:
        tasks = {reference.task_id() for reference in references}
    except AttributeError:
        return []
    # What a task puts into the store itself is named after it, but for the first byte.
    own = _worker().current_task_id.binary()[1:]
    return sorted({_channel(task) for task in tasks if task.binary()[1:] != own})[:_MAX_MAKERS]


def hold_channel(*_: Any, **__: Any) -> None:
    """Before a worker carries out a call: says, once each, whose calls it does."""
    channel = _channel(_worker().current_task_id)
    if channel not in _held:
        _held.append(channel)
        _core.hold_channel(channel)


def _worker() -> Any:
    return sys.modules["ray._private.worker"].global_worker


def _channel(task: Any) -> str:
    return f"ray:[{task.actor_id().hex()}]"
