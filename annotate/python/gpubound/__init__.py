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
"""
from gpubound._api import (adopt, counter, hand_over, layer, metadata, pause, phase, progress,
                           recording, resume, step)
from gpubound._core import Scope, operation
from gpubound._core import version as __version__  # noqa: F401  # no part of __all__: `import *` leaves it alone
from gpubound._intercept import Interception, intercept
from gpubound._ray import ray_runtime_env
from gpubound._summary import summary

__all__ = [
    "Interception", "Scope", "adopt", "counter", "hand_over", "intercept", "layer", "metadata",
    "operation", "pause", "phase", "progress", "ray_runtime_env", "recording", "resume", "step",
    "summary",
]
