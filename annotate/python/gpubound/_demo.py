# SPDX-License-Identifier: Apache-2.0
"""`gpubound demo`: trains a small PPO under the profiler and opens the page of the run."""
import argparse
import os
import shutil
import subprocess
import sys
import time
from typing import Dict, List, Optional

_DESCRIPTION = """Trains CartPole with PPO under the profiler for some seconds, says where the time went and opens the
page of the run in a browser. On an NVIDIA GPU where this Python has PyTorch with CUDA, else on a simulated device."""
_UPDATES = "20"


def run(words: List[str], command: str) -> int:
    """With the native command's path. Exit status: 0, 1 where a step failed, 2 for wrong use."""
    parser = argparse.ArgumentParser(prog="gpubound demo", description=_DESCRIPTION)
    parser.add_argument("-o", "--output", metavar="DIR", default=time.strftime("demo-%Y%m%d-%H%M%S.gpubound"),
                        help="run directory (default: a new one here)")
    parser.add_argument("--simulated", action="store_true", help="take the simulated device in any case")
    parser.add_argument("--no-open", action="store_true", help="write the page and name it, without a browser")
    options = parser.parse_args(words)

    environment = dict(os.environ)
    program = None if options.simulated else _gpu_program()
    if program is None:
        program = _simulated_program(command, environment)
        if program is None:
            print("gpubound demo: this installation has no demo program (cartpole_ppo). Install the wheel again, or "
                  "build it with -DGPUBOUND_INSTALL_DEMO=ON -DGPUBOUND_BUILD_SIM=ON", file=sys.stderr)
            return 1
        print("SIMULATED DEVICE: no NVIDIA GPU is used here.", file=sys.stderr)
    recorded = subprocess.run([command, "run", "-q", "-o", options.output, "--", *program], env=environment,
                              check=False)
    if recorded.returncode != 0:
        print(f"gpubound demo: the training ended with status {recorded.returncode}; its output is above",
              file=sys.stderr)
        return 1
    print(flush=True)
    page = ["--html"] if options.no_open else ["--open"]
    reported = subprocess.run([command, "report", options.output], check=False).returncode
    subprocess.run([command, "report", options.output, *page], check=False)  # it names the page; a browser may lack
    print(f"\nrun: {options.output}\nYour own program: gpubound run -- python train.py")
    return 0 if reported == 0 else 1


def _gpu_program() -> Optional[List[str]]:
    """Needs no compiler: PyTorch has the kernels."""
    if not os.path.exists("/dev/nvidiactl"):
        return None
    has_cuda = [sys.executable, "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"]
    if subprocess.run(has_cuda, capture_output=True, check=False).returncode != 0:
        print("An NVIDIA GPU is here, and this Python has no PyTorch that can use it.", file=sys.stderr)
        return None
    return [sys.executable, "-m", "gpubound._demo_ppo", "cuda", _UPDATES]


def _simulated_program(command: str, environment: Dict[str, str]) -> Optional[List[str]]:
    """Finds the program with the stand-ins for CUDA beside it, or where a build has both."""
    build = os.path.dirname(os.path.dirname(command))
    package = os.path.dirname(os.path.abspath(__file__))
    for program, libraries in ((os.path.join(package, "demo", "cartpole_ppo"), os.path.join(package, "demo")),
                               (os.path.join(build, "bin", "cartpole_ppo"), os.path.join(build, "lib", "sim"))):
        if shutil.which(program) and os.path.exists(os.path.join(libraries, "libcupti.so.13")):
            before = environment.get("LD_LIBRARY_PATH", "")
            environment["LD_LIBRARY_PATH"] = libraries + (os.pathsep + before if before else "")
            return [program]
    return None
