#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds saxpy.cu with nvcc and profiles the unmodified binary: run_saxpy.py SOURCE BUILD SCRATCH.

Over the simulated device unless a real driver answers. The kernels must arrive under the operation
that launched them, by name and in number.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys


def main():
    source, build, scratch = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    nvcc = subprocess.run([source / "tools/dev/fetch_nvcc.sh", source / "build/nvcc"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout.strip()
    cuda = pathlib.Path(nvcc).resolve().parents[1]
    subprocess.run([nvcc, "-std=c++17", "-cudart", "shared", f"-I{source}/annotate/include",
                    f"-L{cuda}/lib64", "-o", scratch / "saxpy", source / "tests/nvcc/saxpy.cu"],
                   check=True)
    environment = dict(os.environ)
    real = subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0 \
        if shutil.which("nvidia-smi") else False
    environment["LD_LIBRARY_PATH"] = str(cuda / "lib64" if real else build / "lib/sim")
    run = scratch / "saxpy.gpubound"
    done = subprocess.run([build / "bin/gpubound", "run", "--no-calibrate", "-o", run, "--",
                           scratch / "saxpy"],
                          env=environment, text=True, stdout=subprocess.PIPE, check=True)
    assert done.stdout == "saxpy: no error\n", done.stdout
    report = json.loads(subprocess.run([build / "bin/gpubound", "report", run, "--json"], text=True,
                                       stdout=subprocess.PIPE, check=True).stdout)
    assert report["device_kind"] == ("real" if real else "simulated"), report["device_kind"]
    (process,) = report["processes"]
    rows = {row["operation"]: row for row in process["operations"]}
    assert rows["inference"]["gpu_caused_ns"] > 0, rows
    assert rows["inference"]["gpu_sum_ns"] >= 0
    text = subprocess.run([build / "bin/gpubound", "report", run, "--kernels"], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    assert "Saxpy" in text, text
    print("nvcc-built binary:", "real" if real else "simulated", "device,",
          rows["inference"]["gpu_caused_ns"], "ns of GPU work caused by inference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
