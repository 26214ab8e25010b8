# SPDX-License-Identifier: Apache-2.0
"""What `gpubound report` says of the running process, as a flat dict for TensorBoard or W&B."""
import os
from typing import Any, Dict, Optional

from gpubound import _api

# What the wall time of an operation is made of.
COLUMNS = ("cpu_only", "cpu_gpu", "gpu_only", "waiting", "idle", "unknown")
_NO_OPERATION = "(no operation)"


def summary(*, timeout_s: float = 60.0) -> Dict[str, float]:
    """The breakdown of this process up to about a second ago, e.g. {"gpubound/span_s": 12.5,
    "gpubound/gpu_busy_share": 0.41, "gpubound/simulation/wall_s": 7.2, ...}.

    Times are seconds, shares 0 to 1. GPU time of which nothing is known yet, as early in a run, is
    in the columns unknown_s and could be busy: gpu_busy_share is the least that the GPU was busy,
    gpu_busy_share_high the most; of several devices, any of them. Where CUDA graphs were recorded
    as a whole, gaps between their nodes count as busy in both. All are as recorded, none corrected.
    These are figures of the reporting thread, whose operations make up the span: what is open on
    other threads has the sum of its time there, as "gpubound/learn/other_threads_wall_s", and no
    other key where it is on no thread but these. Empty where nothing is recorded. Reads the trace
    with the gpubound command in a process of its own, which takes as long as
    `gpubound report --no-replay`: call it now and then, not in every iteration.

    Raises RuntimeError, with the command's own words, if it cannot be started, or cannot read the
    trace within `timeout_s`.
    """
    import json  # these two here: every Python process of a run imports the package
    import subprocess

    run = os.environ.get("GPUBOUND_RUN")
    command = command_path()
    if not _api.recording() or not run or not os.path.isdir(run) or command is None:
        return {}
    environment = {**os.environ, "GPUBOUND_DISABLE": "1"}
    try:
        # The command writes UTF-8 whatever the locale of this process is.
        # What the replay tells is in no figure here, and takes several times as long as all else.
        done = subprocess.run([command, "report", run, "--json", "--no-replay"], env=environment,
                              timeout=timeout_s, capture_output=True, encoding="utf-8",
                              errors="backslashreplace", check=False)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"gpubound report did not end within {timeout_s} s") from error
    except OSError as error:
        raise RuntimeError(f"gpubound report was not started ({command}): {error}") from error
    if done.returncode != 0:
        raise RuntimeError(f"gpubound report failed: {done.stderr.strip()}")
    return flatten(json.loads(done.stdout), _host(), os.getpid())


def _host() -> str:
    """As the collector calls it."""
    return os.uname().nodename or "localhost"


def command_path() -> Optional[str]:
    """The gpubound command of this installation: a wheel's, a build tree's or an installed one."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for prefix in (folder, os.path.join(folder, "..", ".."),
                   os.path.join(folder, "..", "..", "..", "..")):
        path = os.path.abspath(os.path.join(prefix, "bin", "gpubound"))
        if os.access(path, os.X_OK):
            return path
    return None


def flatten(report: Dict[str, Any], host: str, pid: int) -> Dict[str, float]:
    """The figures of process `pid` of `host`, the newest of that number, in `gpubound report --json`.
    Ranks in containers mostly have one pid."""
    own = [process for process in report["processes"]
           if process["pid"] == pid and process["host"] == host]
    if not own:
        return {}
    process = max(own, key=lambda candidate: candidate["start_ns"])
    span_ns = process["span_ns"]
    figures = {"gpubound/span_s": span_ns / 1e9}
    if span_ns > 0:
        busy_ns = process["gpu_busy_ns"]
        unknown_ns = sum(row["unknown_ns"] for row in process["operations"])
        figures["gpubound/gpu_busy_share"] = busy_ns / span_ns
        figures["gpubound/gpu_busy_share_high"] = (busy_ns + unknown_ns) / span_ns
    for row in process["operations"]:
        if row["other_threads_only"]:
            continue
        for key in ("wall", *COLUMNS, "gpu_busy"):
            figures[f"gpubound/{row['operation']}/{key}_s"] = row[f"{key}_ns"] / 1e9
        figures[f"gpubound/{row['operation']}/count"] = row["count"]
    for lane in process["lanes"]:
        for row in lane["operations"]:
            if row["operation"] != _NO_OPERATION:
                name = f"gpubound/{row['operation']}/other_threads_wall_s"
                figures[name] = figures.get(name, 0.0) + row["wall_ns"] / 1e9
    return figures
