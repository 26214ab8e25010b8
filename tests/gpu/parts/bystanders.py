# SPDX-License-Identifier: Apache-2.0
"""A context that was made without us is known by what it maps; asking about the GPU makes none."""
import json

TITLE = "CUDA used without injection is unknown, and a process that only asks is idle"

# In the process: where another is executed, the variable is set again.
UNINJECTED = "import os; os.environ.pop('CUDA_INJECTION64_PATH')\n"
MAPS = ("import json\n"
        "print(json.dumps(sorted({line.split(maxsplit=5)[5].strip() for line in open('/proc/self/maps')"
        " if '/dev/nvidia' in line})))\n")
# What a Python process does, and whether a context is there afterwards.
PROCESSES = (
    ("NVML alone", "import ctypes; ctypes.CDLL('libnvidia-ml.so.1').nvmlInit_v2()", False),
    ("cuInit and cuDeviceGetCount",
     "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); cuda.cuInit(0);"
     " cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))", False),
    ("torch.cuda.is_available", "import torch; torch.cuda.is_available()", False),
    ("torch, a tensor", "import torch; torch.zeros(8, device='cuda')", True),
    ("JAX, an array", "import jax; jax.numpy.zeros(8).block_until_ready()", True),
)


def run(verdict, machine):
    if machine.simulated:
        verdict.left_out("all of it", "what a context maps is the driver's business")
        return
    for what, code, makes_context in PROCESSES:
        found = machine.record([machine.find_python(), "-c", f"{code}\n{MAPS}"],
                               XLA_PYTHON_CLIENT_PREALLOCATE="false")
        if found.outcome.status != 0:
            verdict.check(False, f"{what}: ends well", found.outcome.describe())
            continue
        mapped = json.loads(found.outcome.out.strip().splitlines()[-1])
        verdict.figure(f"{what}, mapped of the driver", mapped)
        verdict.equal(any("nvidia-uvm" in name for name in mapped), makes_context,
                      f"{what}: /dev/nvidia-uvm is mapped if there is a context")
        hidden = machine.record([machine.find_python(), "-c", UNINJECTED + code],
                                XLA_PYTHON_CLIENT_PREALLOCATE="false")
        if makes_context:
            check_unknown(verdict, f"{what}, without injection", hidden)
        else:
            verdict.equal(hidden.ledger("cupti_unavailable") if hidden.has_report() else 0, 0,
                          f"{what}, without injection: nobody misses GPU time")


def check_unknown(verdict, what, recording):
    verdict.equal(recording.ledger("cupti_unavailable"), 1, f"{what}: the ledger says so")
    span_ns = sum(process["span_ns"] for process in recording.report["processes"])
    verdict.check(0 < span_ns == recording.unknown_ns(), f"{what}: all GPU time is unknown",
                  f"{recording.unknown_ns()} of {span_ns} ns")
