# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on a Dask cluster: a task for each host that has a worker, held to its workers. What a task needs
of gpubound it imports there, so that it is installed on every host.

Dask keeps a task whose workers are gone until they are back, if that is forever. Here it is given up after a minute,
or after `distributed.scheduler.no-workers-timeout` of Dask's configuration where the program runs."""
import time
from concurrent.futures import Future
from typing import Any, Callable, Dict, Set

import dask.config
import distributed
from dask.utils import parse_timedelta
from distributed.comm import get_address_host

from gpubound.cluster import Placed

LOOK_S = 5.0
GONE = "60s"  # a worker that has died is started again meanwhile


class DaskHosts(Placed):
    """`client`: a distributed.Client, or the address of a scheduler."""

    def __init__(self, client: Any) -> None:
        self._own = isinstance(client, str)
        self._client = distributed.Client(client) if self._own else client
        hosts: Dict[str, Set[str]] = {}
        # What a worker calls its machine: several addresses may be one.
        for address, host in self._client.run(_host_name, on_error="return").items():
            hosts.setdefault(host if isinstance(host, str) else get_address_host(address), set()).add(address)
        self._workers = {place: self._anywhere_at(place, hosts) for place in hosts}
        self._gone: Set[str] = set()
        self._gone_s: float = parse_timedelta(dask.config.get("distributed.scheduler.no-workers-timeout", None) or GONE)
        self.places = sorted(hosts)

    @staticmethod
    def _anywhere_at(place: str, hosts: Dict[str, Set[str]]) -> Set[str]:
        """Its workers by the addresses of the machine, as one that is started again listens elsewhere; but by their
        own where host names share an address."""
        machine = set(map(get_address_host, hosts[place]))
        others = {get_address_host(address) for other in hosts if other != place for address in hosts[other]}
        return hosts[place] if machine & others else machine

    def _has_worker(self, place: str) -> bool:
        now = set(self._client.nthreads())
        return not self._workers[place].isdisjoint(now | set(map(get_address_host, now)))

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        if place in self._gone and not self._has_worker(place):
            raise RuntimeError("its workers have left the cluster")
        task = self._client.submit(function, *arguments, workers=sorted(self._workers[place]),
                                   allow_other_workers=False, pure=False, retries=0)
        return self.ask(lambda: self._answer_of(task, place))

    def _answer_of(self, task: Any, place: str) -> Any:
        """When it has ended. Raises RuntimeError where nobody is left who could do it."""
        seen = time.monotonic()
        while True:
            try:
                distributed.wait([task], timeout=LOOK_S)
                return task.result()
            except distributed.TimeoutError:
                now = time.monotonic()
            if self._has_worker(place):
                seen = now
            elif now - seen > self._gone_s:
                self._gone.add(place)
                task.cancel()
                raise RuntimeError("its workers have left the cluster")

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        if self._own:
            self._client.close()


def _host_name() -> str:
    import socket
    return socket.gethostname()
