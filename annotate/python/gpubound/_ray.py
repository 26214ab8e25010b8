# SPDX-License-Identifier: Apache-2.0
"""What workers of a Ray cluster need to be recorded into this run."""
import os
from typing import Any, Dict, Mapping, Optional

_OF_ONE_HOST = ("GPUBOUND_END_NS",)  # a time of this host's clock, which counts from its start
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
            if (name.startswith("GPUBOUND_") and name not in _OF_ONE_HOST) or (name in _LOADERS and "gpubound" in value)}
    if "GPUBOUND_RUN" in ours:
        merged["env_vars"] = {**ours, **merged.get("env_vars", {})}
    return merged
