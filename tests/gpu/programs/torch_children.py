# SPDX-License-Identifier: Apache-2.0
"""torch_children.py loader|spawn: trains on batches from forked DataLoader workers, or beside a
spawned process that uses the GPU itself. Prints what it computed."""
import multiprocessing
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        return torch.full((16,), float(index))


def sum_on_gpu(batches):
    total = torch.zeros((), device="cuda", dtype=torch.float64)
    for batch in batches:
        total += batch.to("cuda").double().sum()
    return total.item()


def spawned():
    print("spawned", sum_on_gpu([torch.ones(16)] * 50), flush=True)


def main():
    if sys.argv[1] == "loader":
        torch.cuda.init()  # before the workers are forked
        for _ in range(2):
            print("loader", sum_on_gpu(DataLoader(Squares(), batch_size=8, num_workers=4)))
        return
    print("parent", sum_on_gpu([torch.ones(16)] * 50), flush=True)
    child = multiprocessing.get_context("spawn").Process(target=spawned)
    child.start()
    child.join()
    sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
