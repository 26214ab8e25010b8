# SPDX-License-Identifier: Apache-2.0
"""The machine that run_all runs on and the bundle it runs from: which compilers and interpreters
there are, programs built with them, and commands run with and without gpubound."""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from harness import process
from harness.recording import Recording

# Of any one command; a part's own limit is the sum that its commands ask for.
COMMAND_TIMEOUT_S = 120
KERNEL_NS = 5_000  # of a kernel of the simulated device
CUDA_INCLUDES = ("/usr/local/cuda/include", "/usr/local/cuda/extras/CUPTI/include")
FOREIGN = ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPUBOUND_RUN",
           "GPUBOUND_DISABLE", "GPUBOUND_KEEP_CUPTI", "GPUBOUND_SIM_SCRIPT")


class Machine:
    def __init__(self, bundle, scratch, simulated):
        self.bundle = pathlib.Path(bundle)
        self.scratch = pathlib.Path(scratch)
        self.simulated = simulated
        self.device_kind = "simulated" if simulated else "real"
        self.began = time.monotonic()
        self._run_numbers = itertools.count(1)  # asked by several threads
        self._programs = {}

    # --- Environment ---

    def variables(self, **changes):
        variables = {key: value for key, value in os.environ.items() if key not in FOREIGN}
        packages = [str(self.bundle / "lib/gpubound/python"), os.environ.get("PYTHONPATH")]
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, packages))
        variables["PYTHONUNBUFFERED"] = "1"
        if self.simulated:
            variables["LD_LIBRARY_PATH"] = str(self.bundle / "sim")
            variables["GPUBOUND_SIM_SCRIPT"] = json.dumps(
                {"device": {"kernel_ns": KERNEL_NS, "kernels": {"Spin": KERNEL_NS}}})
        variables.update({key: str(value) for key, value in changes.items()})
        return variables

    def find_nvcc(self):
        for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
            if path and os.access(path, os.X_OK):
                return path
        return None

    def find_python(self):
        """The interpreter that has torch, else the one of this script."""
        torch_python = pathlib.Path("/opt/torch/.venv/bin/python3")
        return str(torch_python) if torch_python.exists() else sys.executable

    def has_module(self, name):
        return self.command([self.find_python(), "-c", f"import {name}"]).status == 0

    # --- Commands ---

    def command(self, words, timeout_s=COMMAND_TIMEOUT_S, **changes):
        return process.run(words, self.variables(**changes), timeout_s, self.scratch)

    def tool(self, *words, timeout_s=COMMAND_TIMEOUT_S):
        return self.command([self.bundle / "bin/gpubound", *words], timeout_s)

    def new_run_path(self):
        return self.scratch / f"run{next(self._run_numbers)}.gpubound"

    def record(self, words, options=(), timeout_s=COMMAND_TIMEOUT_S, **changes):
        path = self.new_run_path()
        outcome = self.command([self.bundle / "bin/gpubound", "run", "-q", *options, "-o", path,
                                "--", *words], timeout_s, **changes)
        return Recording(self, path, outcome)

    def runs(self):
        """The run directories recorded so far, but for those that were taken away."""
        return sorted(self.scratch.glob("run*.gpubound"))

    # --- Programs ---

    def build(self, name):
        """Compiles programs/NAME.cu: nvcc for a GPU, the C++ compiler for the simulated device."""
        if name not in self._programs:
            source = self.bundle / "src/tests/gpu/programs" / f"{name}.cu"
            self._programs[name] = self._compile(name, [source], ["-std=c++17", "-O2"])
        return self._programs[name]

    def build_example(self, sources):
        return self._compile("cartpole_ppo", sources, ["-std=c++20", "-O3"])

    def build_injection(self, name):
        """Compiles programs/NAME.cc as what the CUDA driver loads by CUDA_INJECTION64_PATH."""
        source = self.bundle / "src/tests/gpu/programs" / f"{name}.cc"
        library = self.scratch / f"{name}.so"
        folders = [self.bundle / "src/cuda_include"] if self.simulated else CUDA_INCLUDES
        headers = [f"-I{folder}" for folder in folders if pathlib.Path(folder).is_dir()]
        self._run_compiler(name, ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-static-libstdc++",
                                  *headers, source, "-o", library, "-ldl"])
        return library

    def _compile(self, name, sources, flags):
        program = self.scratch / name
        include = [f"-I{self.bundle / 'src'}", f"-I{self.bundle / 'src/annotate/include'}"]
        if self.simulated:
            compiler = ["c++", "-x", "c++", f"-I{self.bundle / 'src/cuda_include'}"]
            link = ["-x", "none", f"-L{self.bundle / 'sim'}", f"-Wl,-rpath-link,{self.bundle / 'sim'}",
                    "-lcudart", "-lpthread", "-ldl"]
        else:
            nvcc = self.find_nvcc()
            if nvcc is None:
                raise RuntimeError(f"cannot build {name}: no nvcc in PATH or /usr/local/cuda/bin")
            compiler = [nvcc, "-arch=native", "-x", "cu"]
            link = ["-lpthread", "-ldl"]
        self._run_compiler(name, [*compiler, *flags, *include, *sources, "-o", program, *link])
        return program

    @staticmethod
    def _run_compiler(name, command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"cannot build {name}: {done.stderr[-3000:]}")

    def build_python_extension(self):
        """For the interpreter that has torch. Returns what was done, in one line."""
        python = self.find_python()
        facts = self.command([python, self.bundle / "src/annotate/python/describe_interpreter.py"])
        include, suffix, stable_abi, _ = facts.out.strip().split(";")
        limits = []
        if stable_abi == "alone":
            suffix, limits = ".abi3.so", ["-DPy_LIMITED_API=0x03090000"]
        if not pathlib.Path(include, "Python.h").exists():
            return f"{python} uses the bundle's extension for the stable ABI: {include}/Python.h is missing"
        sources = sorted((self.bundle / "src/annotate/python/extension").glob("*.cc"))
        target = self.bundle / "lib/gpubound/python/gpubound" / f"_core{suffix}"
        command = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti",
                   "-fvisibility=hidden", "-static-libstdc++", "-static-libgcc",
                   f"-I{self.bundle / 'src'}", f"-I{self.bundle / 'src/annotate/include'}",
                   f"-I{include}", *limits, '-DGPUBOUND_VERSION="gpu"',
                   *[str(source) for source in sources], "-o", str(target), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"no extension for {python}: {done.stderr[-1500:]}"
        return f"extension for {python}: {target.name}"
