# SPDX-License-Identifier: Apache-2.0
"""torch_ends.py HOW N: runs N kernels and ends as HOW says."""
import os
import signal
import sys

import torch

how, kernels = sys.argv[1], int(sys.argv[2])
value = torch.zeros(8, device="cuda")
for _ in range(kernels):
    value.add_(1)
torch.cuda.synchronize()
print("done", flush=True)
if how == "sys.exit":
    sys.exit(3)
elif how == "os._exit":
    os._exit(4)
elif how == "exception":
    raise RuntimeError("as asked")
elif how == "sigterm":
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()
