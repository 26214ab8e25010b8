# SPDX-License-Identifier: Apache-2.0
"""Figures of this process, from its own run. One process beside it, started once and at the lowest priority, reads the
run every few seconds: this one could not without taking the recorder's locks on its files away, and its time is the
training's. A call here reads a pipe and never waits."""
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any, Dict, Optional

from gpubound import _api
from gpubound._summary import _host, flatten

INTERVAL_S = 10.0
# So much of a core at most: of a long run, each look takes longer.
_BUSY_SHARE = 0.05
_MOST_BYTES = 1 << 20


class Follower:
    """Any thread."""

    def __init__(self, run: str, interval_s: float) -> None:
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        environment = {**os.environ, "GPUBOUND_DISABLE": "1"}
        environment.pop("LD_PRELOAD", None)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, environment.get("PYTHONPATH"))))
        self._reader = subprocess.Popen(
            [sys.executable, "-m", "gpubound.integrations._follower", run, str(os.getpid()), _host(), str(interval_s)],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._reader.stdout is not None  # it is a pipe
        self._pipe = self._reader.stdout.fileno()
        os.set_blocking(self._pipe, False)
        self._lock = threading.Lock()
        self._read = b""

    def newest(self) -> Dict[str, float]:
        """Figures that came since the last call; mostly none."""
        with self._lock:
            try:
                self._read += os.read(self._pipe, _MOST_BYTES)
            except BlockingIOError:
                return {}
            *lines, self._read = self._read.split(b"\n")
        return json.loads(lines[-1]) if lines else {}

    def close(self) -> None:
        """Ends the process beside this one."""
        self._reader.kill()
        self._reader.wait()


_shared: Optional[Follower] = None
_pid = 0
_starting = threading.Lock()


def newest(interval_s: float = INTERVAL_S) -> Dict[str, float]:
    """The figures of gpubound.summary(), some seconds old, with what the program counts a second and the median
    iteration; empty where there are no new ones, or nobody records. The first call starts who reads them."""
    global _shared, _pid
    if _shared is None or _pid != os.getpid():  # a fork child has figures of its own
        run = os.environ.get("GPUBOUND_RUN")
        if not _api.recording() or not run:
            return {}
        with _starting:
            if _shared is None or _pid != os.getpid():
                _shared, _pid = Follower(os.path.abspath(run), interval_s), os.getpid()
    return _shared.newest()


def start(interval_s: float = INTERVAL_S) -> None:
    """Starts who reads them: what takes some milliseconds is then done before the loop begins."""
    newest(interval_s)


def figures_of(report: Dict[str, Any], host: str, pid: int) -> Dict[str, float]:
    """Of the process, from the report's JSON."""
    figures = flatten(report, host, pid)
    own = [process for process in report["processes"] if process["pid"] == pid and process["host"] == host]
    if own:
        process = max(own, key=lambda candidate: candidate["start_ns"])
        for work in process["throughput"]:
            figures[f"gpubound/{work['counter']}_per_s"] = work["per_second"]
        if process["iterations"]:
            figures["gpubound/iteration_median_s"] = process["iterations"]["median_ns"] / 1e9
    return figures


def _follow(run: str, pid: int, host: str, interval_s: float) -> None:
    """What the process beside it does, for as long as it lives."""
    from gpubound import runs
    os.nice(19)
    parent = os.getppid()
    while os.getppid() == parent:
        began, used = time.monotonic(), time.process_time()
        try:
            figures = figures_of(runs.open_run(run).report(replay=False), host, pid)
        except runs.RunError:  # nothing is written yet
            figures = {}
        if figures:
            os.write(1, json.dumps(figures).encode() + b"\n")
        wait_until = began + max(interval_s, (time.process_time() - used) / _BUSY_SHARE)
        while time.monotonic() < wait_until and os.getppid() == parent:
            time.sleep(min(1.0, interval_s))


if __name__ == "__main__":
    try:
        _follow(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
    except BrokenPipeError:
        pass
