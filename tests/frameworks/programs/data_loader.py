# SPDX-License-Identifier: Apache-2.0
"""Reads batches that two DataLoader workers take their time to make: data_loader.py METHOD. Knows
nothing of gpubound."""
import sys
import time

import torch


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        until = time.monotonic() + 0.005
        while time.monotonic() < until:
            pass
        return torch.full((4,), float(index))


def main():
    loader = torch.utils.data.DataLoader(Slow(), batch_size=4, num_workers=2,
                                         multiprocessing_context=sys.argv[1])
    print(float(sum(batch.sum() for batch in loader)))


if __name__ == "__main__":
    main()
