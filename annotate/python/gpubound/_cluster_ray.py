# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on a Ray cluster: a task for each node that is alive, held to that node. What a task needs of
gpubound it imports there, so that it is installed on every node.

Ray notices within a minute that a node is gone, but a call to it that is under way may take many minutes to fail where
nothing comes from there any more. Here it fails once Ray has said that the node is gone."""
import threading
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any, Callable, List, Optional, Set, Tuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gpubound.cluster import Placed

LOOK_S = 5.0
GONE = "its node has left the cluster"


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
        self._gone: Set[str] = set()
        self.places = sorted(self._nodes)

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        if place in self._gone:
            raise RuntimeError(GONE)
        # Ray's own retries would hide what happened; gpubound.cluster asks again.
        where = NodeAffinitySchedulingStrategy(node_id=self._nodes[place], soft=False)
        task = ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=where).remote(*arguments)
        asked = task.future()

        def _answer() -> Any:
            while not wait_for([asked], LOOK_S).done:
                if not self._is_alive(place):
                    self._gone.add(place)
                    raise RuntimeError(GONE)
            return asked.result()
        return self.ask(_answer)

    def _is_alive(self, place: str) -> bool:
        return any(node["Alive"] for node in ray.nodes() if node["NodeID"] == self._nodes[place])

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        if self._joined and threading.current_thread() is threading.main_thread():
            ray.shutdown()
