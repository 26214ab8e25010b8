# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on a Dask cluster: a task for each host that has a worker, held to its workers. What a task needs
of gpubound it imports there, so that it is installed on every host."""
import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, List

import distributed

from gpubound.cluster import Placed


class DaskHosts(Placed):
    """`client`: a distributed.Client, or the address of a scheduler."""

    def __init__(self, client: Any) -> None:
        self._own = isinstance(client, str)
        self._client = distributed.Client(client) if self._own else client
        hosts: Dict[str, List[str]] = {}
        # What a worker calls its machine: several addresses may be one.
        for address, host in self._client.run(_host_name).items():
            hosts.setdefault(host, []).append(address)
        self._workers = hosts
        self.places = sorted(hosts)

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        task = self._client.submit(function, *arguments, workers=self._workers[place], allow_other_workers=False,
                                   pure=False, retries=0)
        future: "Future[Any]" = Future()
        future.set_running_or_notify_cancel()  # nobody cancels it from here on

        def _wait() -> None:
            try:
                future.set_result(task.result())
            except Exception as error:  # whatever the task raised is the answer
                future.set_exception(error)

        threading.Thread(target=_wait, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        if self._own:
            self._client.close()


def _host_name() -> str:
    import socket
    return socket.gethostname()
