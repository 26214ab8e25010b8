# SPDX-License-Identifier: Apache-2.0
"""CUDA calls for `gpubound calibrate`, by way of ctypes: of libcudart, which the caller names or the dynamic
loader finds. The native program makes the same calls in tight loops (tools/calibrate/programs/cuda_work.cc); here
they are made between pieces of other work, and Python is what most programs do that between them."""
import ctypes
import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

HOST_TO_DEVICE = 1
BYTES = 4096
KERNEL_NAME = b"gpubound_calibration"
KERNEL_PTX = (b".version 6.0\n.target sm_70\n.address_size 64\n"
              b".visible .entry gpubound_calibration() { ret; }\n")


class Unavailable(LookupError):
    """Why there are no CUDA calls here."""


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Call(NamedTuple):
    function: Callable[..., int]
    nothing: Callable[..., int]  # takes the same arguments and does nothing
    arguments: Tuple[Any, ...]


class Cuda:
    """Raises Unavailable where CUDA cannot be loaded or does not work."""

    def __init__(self, path: str) -> None:
        self._runtime = _load(path)
        self._nothing = ctypes.CDLL(None)
        self._memory, self._host_memory = ctypes.c_void_p(), ctypes.c_void_p()
        self._stream, self._event = ctypes.c_void_p(), ctypes.c_void_p()
        self._check("cudaMalloc", ctypes.byref(self._memory), ctypes.c_size_t(BYTES))
        self._check("cudaMallocHost", ctypes.byref(self._host_memory), ctypes.c_size_t(BYTES))
        self._check("cudaStreamCreate", ctypes.byref(self._stream))
        self._check("cudaEventCreate", ctypes.byref(self._event))
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        memory, host_memory = self._memory.value, self._host_memory.value
        stream, event = self._stream.value, self._event.value
        self._calls: Dict[str, Call] = {}
        self._define("cudaMemcpyAsync", (pointer, memory), (pointer, host_memory), (size, BYTES),
                     (number, HOST_TO_DEVICE), (pointer, stream))
        self._define("cudaMemsetAsync", (pointer, memory), (number, 0), (size, BYTES), (pointer, stream))
        self._define("cudaEventRecord", (pointer, event), (pointer, stream))
        self._define("cudaStreamWaitEvent", (pointer, stream), (pointer, event), (number, 0))
        self._define("cudaStreamSynchronize", (pointer, stream))
        self._no_kernel = ""
        kernel = self._find_kernel()
        if kernel is not None:
            one = (Dim3, Dim3(1, 1, 1))
            self._define("cudaLaunchKernel", (pointer, kernel), one, one, (pointer, None), (size, 0),
                         (pointer, stream))

    def call(self, name: str) -> Call:
        """Raises Unavailable for what this CUDA cannot do."""
        if name not in self._calls:
            raise Unavailable(self._no_kernel or "there is no such workload")
        return self._calls[name]

    def wait(self) -> None:
        self._check("cudaStreamSynchronize", self._stream)

    def _check(self, name: str, *arguments: Any) -> None:
        status = getattr(self._runtime, name)(*arguments)
        if status != 0:
            raise Unavailable(f"CUDA does not work here: its error {status}")

    # Functions of their own, not those that ctypes keeps: each has its types.
    def _define(self, name: str, *arguments: Tuple[Any, Any]) -> None:
        types = [kind for kind, _ in arguments]
        function, nothing = self._runtime[name], self._nothing["labs"]
        function.argtypes = nothing.argtypes = types
        self._calls[name] = Call(function, nothing, tuple(value for _, value in arguments))

    def _find_kernel(self) -> Optional[int]:
        """A function, or a kernel's handle, which cudaLaunchKernel takes for one."""
        self._name = ctypes.create_string_buffer(KERNEL_NAME)
        if hasattr(self._runtime, "gpubound_sim_register_kernel"):
            self._runtime.gpubound_sim_register_kernel(self._name, self._name, None, None, 0, 16, 0)
            return ctypes.addressof(self._name)
        if not hasattr(self._runtime, "cudaLibraryLoadData"):
            self._no_kernel = ("the CUDA runtime found is older than 12.8 and cannot load a kernel by "
                               "itself")
            return None
        library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        code = ctypes.create_string_buffer(KERNEL_PTX)
        loaded = self._runtime.cudaLibraryLoadData(ctypes.byref(library), code, None, None, 0, None, None, 0)
        if loaded != 0 or self._runtime.cudaLibraryGetKernel(ctypes.byref(kernel), library, self._name) != 0:
            self._no_kernel = "this device does not take PTX for compute capability 7.0"
            return None
        return kernel.value


def _load(path: str) -> ctypes.CDLL:
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    names = [path] if path else []
    names += ["libcudart.so.13", "libcudart.so.12", "libcudart.so", f"{toolkit}/lib64/libcudart.so"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise Unavailable("no CUDA runtime (libcudart.so) was found; add its folder to LD_LIBRARY_PATH")
