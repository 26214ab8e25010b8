# SPDX-License-Identifier: Apache-2.0
"""The report of a run of many machines, each reduced where its files lie by an engine that is there already.

    from concurrent.futures import ProcessPoolExecutor
    from gpubound import cluster

    with ProcessPoolExecutor() as executor:
        report = cluster.report("/shared/train.gpubound", executor)

Any `concurrent.futures.Executor` will do: a process pool, `dask.distributed.Client().get_executor()`,
`mpi4py.futures.MPIPoolExecutor()`, submitit's. Where machines keep their files on disks of their own, work has to go to
each of them: `cluster.ray()`, `cluster.dask(client)` and `cluster.slurm()` do that.

What a worker returns is a part (docs/many_machines.md): some KB for a process, whatever the length of the run. A
worker that dies is asked again, a part that comes twice counts once, and one that never comes is named in the report,
whose GPU shares are lower bounds then.
"""
import argparse
import json
import os
import sys
import tempfile
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from gpubound import _reader

Path = Union[str, "os.PathLike[str]"]


class Unit(NamedTuple):
    """What one worker reduces: the files of `host` in the run's folder, or where that is empty all that it sees."""
    name: str  # in messages
    host: str


class Placed(Executor):
    """An executor that knows machines, and can say where work is done. `places` names them."""
    places: Sequence[str] = ()

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        raise NotImplementedError

    @staticmethod
    def ask(question: Callable[[], Any]) -> "Future[Any]":
        """What `question` returns or raises, called on a thread for which the end of the program does not wait."""
        future: "Future[Any]" = Future()
        future.set_running_or_notify_cancel()  # nobody cancels it from here on

        def _ask() -> None:
            try:
                future.set_result(question())
            except Exception as error:  # whatever the task raised is the answer
                future.set_exception(error)

        threading.Thread(target=_ask, daemon=True).start()
        return future


def _part(path: str, host: str, operations: List[str], merged: bytes) -> bytes:
    """Runs on a worker. Empty where there are no files of the run: on a node of the cluster that took no part in it."""
    if host == "" and not (os.path.isdir(path) and any(map(_is_of_a_run, os.listdir(path)))):
        return b""
    return _reader.part(path, host, operations, merged)


def _is_of_a_run(name: str) -> bool:
    return name == "run.json" or name.endswith((".db", ".live", ".unrecorded"))


def _why(error: BaseException) -> str:
    """What an engine wraps counts, without where in its code that was."""
    lines = str(getattr(error, "cause", None) or error).strip().splitlines()
    if not lines:
        return type(error).__name__
    announced = lines[0].rstrip().endswith(":")  # the reason stands in the next line
    return " ".join(line.strip() for line in lines[:2 if announced else 1]).rstrip(".:")


class _Parts:
    """Asks for the part of each unit until it is there, or has failed too often."""

    def __init__(self, path: str, executor: Executor, operations: List[str], retries: int,
                 timeout: Optional[float]) -> None:
        self._path = path
        self._executor = executor
        self._operations = operations
        self._retries = retries
        self._timeout = timeout
        self.failures: Dict[str, str] = {}  # unit: why

    def _submit(self, unit: Unit, merged: bytes) -> "Future[bytes]":
        if isinstance(self._executor, Placed):
            return self._executor.submit_at(unit.name, _part, self._path, unit.host, self._operations, merged)
        return self._executor.submit(_part, self._path, unit.host, self._operations, merged)

    def of(self, units: Sequence[Unit], merged: bytes = b"") -> List[bytes]:
        parts: List[bytes] = []
        left = list(units)
        for attempt in range(1 + self._retries):
            last = attempt == self._retries
            again: List[Unit] = []
            asked: Dict["Future[bytes]", Unit] = {}
            for unit in left:
                try:
                    asked[self._submit(unit, merged)] = unit
                except Exception as error:  # an engine may raise anything; it is said below
                    again.append(unit)
                    self.failures[unit.name] = _why(error)
            try:
                for future in as_completed(asked, self._timeout):
                    unit = asked.pop(future)
                    try:
                        part = future.result()
                    except Exception as error:  # likewise
                        again.append(unit)
                        self.failures[unit.name] = _why(error)
                        continue
                    self.failures.pop(unit.name, None)
                    if part:
                        parts.append(part)
            except FutureTimeout:
                for future, unit in asked.items():
                    future.cancel()
                    again.append(unit)
                    self.failures[unit.name] = f"nothing came within {self._timeout} s"
            left = again
            if not left or last:
                break
        return parts


def merged_parts(path: Path, executor: Optional[Executor] = None, *, operations: Sequence[str] = (), late: bool = True,
                 retries: int = 2, timeout: Optional[float] = None) -> bytes:
    """The parts of all machines of the run at `path`, merged: what `gpubound merge` writes, and `gpubound report`
    and gpubound.open() read from a file.

    `executor`: None takes a process pool on this machine. `operations`: as of `gpubound report --operations`.
    `late`: machines whose ranks kept others waiting are asked once more what these did. `retries`: how often a unit is
    asked again that failed. `timeout`: seconds for all units together, each time.

    Raises gpubound.RunError where no machine has any part."""
    folder = os.path.abspath(os.fspath(path))
    if executor is None:
        with ProcessPoolExecutor() as pool:
            return merged_parts(folder, pool, operations=operations, late=late, retries=retries, timeout=timeout)
    if isinstance(executor, Placed):
        units = [Unit(place, "") for place in executor.places]
    else:
        units = [Unit(host, host) for host in _reader.hosts(folder)]
    asking = _Parts(folder, executor, list(operations), retries, timeout)
    parts = asking.of(units)
    absent = [_reader.absent(unit, why) for unit, why in sorted(asking.failures.items())]
    if not parts:
        why = "; ".join(f"{unit}: {reason}" for unit, reason in sorted(asking.failures.items()))
        raise _reader.RunError(f"reducing {folder}: no machine has given a part{': ' if why else ''}{why}")
    merged = _reader.merge(parts + absent)
    hosts = _reader.late_hosts(merged) if late else []
    if not hosts:
        return merged
    # What late ranks did is no figure of the report that would be wrong without it: who has just failed is not waited
    # for again.
    asked = [unit for unit in units
             if unit.name not in asking.failures and (isinstance(executor, Placed) or unit.host in hosts)]
    return _reader.merge([merged] + _Parts(folder, executor, list(operations), 0, timeout).of(asked, merged))


def report(path: Path, executor: Optional[Executor] = None, *, operations: Sequence[str] = (), late: bool = True,
           retries: int = 2, timeout: Optional[float] = None) -> Dict[str, Any]:
    """The report of the run at `path` as a dict (gpubound.report.v1), its parts made by `executor`; see
    merged_parts()."""
    merged = merged_parts(path, executor, operations=operations, late=late, retries=retries, timeout=timeout)
    with tempfile.NamedTemporaryFile(suffix=".part") as file:
        file.write(merged)
        file.flush()
        made: Dict[str, Any] = json.loads(_reader.report(file.name, False, "json", "", []))
    return made


def ray(address: Optional[str] = None) -> Placed:
    """An executor of one worker on each node of a Ray cluster (`pip install gpubound[ray]`); `address` as of
    ray.init()."""
    from gpubound import _cluster_ray
    return _cluster_ray.RayNodes(address)


def dask(client: Any) -> Placed:
    """An executor of one worker on each host of a Dask cluster (`pip install gpubound[dask]`); `client` is a
    dask.distributed.Client, or the address of a scheduler."""
    from gpubound import _cluster_dask
    return _cluster_dask.DaskHosts(client)


def slurm() -> Placed:
    """An executor of one step on each node of the allocation of Slurm that the program runs in."""
    from gpubound import _cluster_slurm
    return _cluster_slurm.SlurmNodes()


def _executor_for(engine: str) -> Executor:
    """ray://HOST:PORT, ray, dask://HOST:PORT, slurm, local or local:N."""
    kind, _, rest = engine.partition(":")
    if kind == "ray":
        return ray(engine if rest else None)
    if kind == "dask" and rest:
        return dask("tcp:" + rest)
    if engine == "slurm":
        return slurm()
    if kind == "local" and (not rest or rest.isdigit()):
        return ProcessPoolExecutor(int(rest) if rest else None)
    raise ValueError(f"no engine is called {engine!r}: give local:N, slurm, ray, ray://HOST:PORT or dask://HOST:PORT")


def main() -> int:
    """`python3 -m gpubound.cluster RUN --on ENGINE -o FILE`, which `gpubound report RUN --on ENGINE` starts."""
    parser = argparse.ArgumentParser(prog="python3 -m gpubound.cluster", description=main.__doc__)
    parser.add_argument("run")
    parser.add_argument("--on", default="local", metavar="ENGINE")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--operations", default="", metavar="RANGES")
    parser.add_argument("--timeout", type=float, metavar="SECONDS")
    arguments = parser.parse_args()
    operations = [name for name in arguments.operations.split(",") if name]
    try:
        with _executor_for(arguments.on) as executor:
            merged = merged_parts(arguments.run, executor, operations=operations, timeout=arguments.timeout)
    except (ImportError, OSError, RuntimeError, ValueError) as error:  # OSError: nothing answers there
        print(f"gpubound: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 3
    with open(arguments.output, "wb") as file:
        file.write(merged)
    return 0


if __name__ == "__main__":
    # As the module that the engines' own know, whose classes are others than those of this one.
    from gpubound import cluster
    sys.exit(cluster.main())
