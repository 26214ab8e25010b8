# SPDX-License-Identifier: Apache-2.0
"""A backend of torch.distributed that is written in Python, as others bring one for MPI or to survive lost
ranks: a ProcessGroup and a Work of its own. Ranks meet in the store. Importing it registers `stored`."""
import io

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Work


class StoredWork(Work):
    """Is done when all ranks have put theirs."""

    def __init__(self, store, keys, finish):
        super().__init__()
        self._store, self._keys, self._finish = store, keys, finish

    def wait(self, timeout=None):  # pylint: disable=unused-argument
        self._store.wait(self._keys)
        self._finish([torch.load(io.BytesIO(self._store.get(key))) for key in self._keys])
        return True

    def get_future(self):
        """As DistributedDataParallel asks for it."""
        self.wait()
        future = torch.futures.Future()
        future.set_result(self._result)
        return future

    _result = None


class StoredGroup(dist.ProcessGroup):
    """Every rank puts what it has; everybody reads all of it."""

    def __init__(self, store, rank, size, _timeout):
        super().__init__(rank, size)
        self._store, self._rank, self._size, self._count = store, rank, size, 0

    def getBackendName(self):  # pylint: disable=invalid-name
        """Its name, as torch calls for it."""
        return "stored"

    def _meet(self, mine, finish, result=None):
        keys = [f"{self._count}/{rank}" for rank in range(self._size)]
        self._count += 1
        packed = io.BytesIO()
        torch.save(mine, packed)
        self._store.set(keys[self._rank], packed.getvalue())
        work = StoredWork(self._store, keys, finish)
        work._result = result  # pylint: disable=protected-access
        return work

    def allreduce(self, tensors, opts=None):  # pylint: disable=unused-argument
        """Adds up."""
        return self._meet(tensors[0], lambda all_of: tensors[0].copy_(sum(all_of)), tensors)

    def allgather(self, outputs, inputs, opts=None):  # pylint: disable=unused-argument
        """One of each rank."""
        def finish(all_of):
            for output, one in zip(outputs[0], all_of):
                output.copy_(one)
        return self._meet(inputs[0], finish, outputs)

    def broadcast(self, tensors, opts=None):
        """That of one rank."""
        root = 0 if opts is None else opts.rootRank
        return self._meet(tensors[0], lambda all_of: tensors[0].copy_(all_of[root]), tensors)

    def barrier(self, opts=None):  # pylint: disable=unused-argument
        """Nothing of each."""
        return self._meet(torch.zeros(0), lambda _: None)


dist.Backend.register_backend("stored", StoredGroup, devices=["cpu"])
