# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster inside an allocation of Slurm: `srun` starts this file on each node, which reads on stdin what to do
and answers on stdout, so that the nodes need nothing in common but gpubound.

Bytes on stdin and stdout are pickles of this program's own; they come from nowhere else."""
import os
import pickle
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, List

from gpubound.cluster import Placed


class SlurmNodes(Placed):
    """The nodes of the allocation that the program runs in. Raises RuntimeError outside of one."""

    def __init__(self) -> None:
        nodes = os.environ.get("SLURM_JOB_NODELIST", "")
        if not nodes:
            raise RuntimeError("SLURM_JOB_NODELIST is not set: run inside an allocation (salloc, sbatch)")
        listed = subprocess.run(["scontrol", "show", "hostnames", nodes], check=True, capture_output=True, text=True)
        self.places: List[str] = listed.stdout.split()
        self._threads = ThreadPoolExecutor(max(1, len(self.places)))

    def submit_at(self, place: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        return self._threads.submit(self._call, place, pickle.dumps((function, arguments)))

    @staticmethod
    def _call(place: str, call: bytes) -> Any:
        words = ["srun", f"--nodelist={place}", "--nodes=1", "--ntasks=1", "--overlap", sys.executable, "-m", __name__]
        answered = subprocess.run(words, input=call, capture_output=True)
        if answered.returncode != 0:
            said = answered.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else f"srun ended with status {answered.returncode}")
        failed, answer = pickle.loads(answered.stdout)  # of ours
        if failed:
            raise RuntimeError(answer)
        return answer

    def shutdown(self, wait: bool = True, **_: Any) -> None:
        self._threads.shutdown(wait)


def main() -> int:
    """On a node."""
    function, arguments = pickle.load(sys.stdin.buffer)  # likewise
    try:
        answer = (False, function(*arguments))
    except Exception as error:  # what it raises is the answer
        answer = (True, str(error))
    sys.stdout.buffer.write(pickle.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
