# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on a Ray cluster: a task for each node that is alive, held to that node. What a task needs of
gpubound it imports there, so that it is installed on every node."""
import threading
from concurrent.futures import Future
from typing import Any, Callable, List, Optional, Tuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gpubound.cluster import Placed


class RayNodes(Placed):
    """Joins the cluster at `address`, or the one that the program has joined."""

    def __init__(self, address: Optional[str]) -> None:
        self._joined = not ray.is_initialized()
        if self._joined:
            ray.init(address=address or "auto", logging_level="error")
        nodes: List[Tuple[str, str]] = [(node["NodeManagerHostname"], node["NodeID"]) for node in ray.nodes()
                                        if node["Alive"]]
        names = [name for name, _ in nodes]
        # Containers may share a host name.
        self._nodes = {name if names.count(name) == 1 else f"{name} ({node[:8]})": node for name, node in nodes}
        self.places = sorted(self._nodes)

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        # Ray's own retries would hide what happened; gpubound.cluster asks again.
        where = NodeAffinitySchedulingStrategy(node_id=self._nodes[place], soft=False)
        task = ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=where).remote(*arguments)
        future: "Future[Any]" = task.future()
        return future

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        if self._joined and threading.current_thread() is threading.main_thread():
            ray.shutdown()
