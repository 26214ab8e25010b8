# SPDX-License-Identifier: Apache-2.0
"""The clocks that the marked copy of a program calls (marked.py): how long what took, by the program's own account.

Each clock is a sum of perf_counter_ns. Where the program runs under `gpubound run`, its loop is a phase too, so that
the report can be asked for it alone. At the end of its loop each process writes what its clocks say to
$GPUBOUND_TRUTH/PID.json."""
import json
import os
import time

_now = time.perf_counter_ns
_open = {}
_total = {}
_count = {}
_ended = {}  # when a clock stopped last
_stage = None
_stage_since = 0
_loop = None


def _phase(name):
    try:
        import gpubound
    except ImportError:  # not under `gpubound run`
        return
    gpubound.phase(name)


def loop_begins(name="loop"):
    """The window that all shares refer to begins, with the first call; `name` is what the table calls the process."""
    global _loop
    if _loop is not None:
        return
    for of_before in (_open, _total, _count):
        of_before.clear()
    _phase("truth loop")
    _loop = (name, _now())


def begin(name):
    _open[name] = _now()


def end(name):
    """Stops a clock; one that does not run, as after a branch that was not taken, stays as it is."""
    now = _now()
    since = _open.pop(name, None)
    if since is not None:
        _total[name] = _total.get(name, 0) + now - since
        _count[name] = _count.get(name, 0) + 1
        _ended[name] = now


def stage(name):
    """`rollout` begins, or `update`, which began when the last environment step before it was over.

    What lies between that and this call, of the same stage in a reading by where a program's text
    turns to learning, is the clock `between`."""
    global _stage, _stage_since
    if name == _stage:
        return
    now = _now()
    begins = now
    if name == "update":
        begins = max(_ended.get("simulation", now), _stage_since)
        _total["between"] = _total.get("between", 0) + now - begins
    if _stage is not None:
        _total[_stage] = _total.get(_stage, 0) + begins - _stage_since
        _count[_stage] = _count.get(_stage, 0) + 1
    _stage, _stage_since = name, begins


def loop_ends():
    end_ns = _now()
    _phase("truth end")
    if _stage is not None:
        _total[_stage] = _total.get(_stage, 0) + end_ns - _stage_since
        _count[_stage] = _count.get(_stage, 0) + 1
    name, begin_ns = _loop
    folder = os.environ["GPUBOUND_TRUTH"]
    with open(os.path.join(folder, f"{os.getpid()}.json"), "w", encoding="utf-8") as file:
        json.dump({"loop": name, "pid": os.getpid(), "begin_ns": begin_ns, "end_ns": end_ns,
                   "total_ns": _total, "count": _count}, file)
