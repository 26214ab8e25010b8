# SPDX-License-Identifier: Apache-2.0
"""simulated_calls.py SCRIPT ARGUMENT...: runs a script that uses PyTorch on the CPU, with CUDA calls on the
simulated device between its own work, as a training on a GPU makes them: a launch behind each of PyTorch's
functions that Python calls, and a wait behind each update. The stand-in for the CUDA runtime has to be on
LD_LIBRARY_PATH. Knows nothing of gpubound."""
import ctypes
import runpy
import sys

from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class SimulatedCalls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        runtime = ctypes.CDLL("libcudart.so.13")
        self._function = ctypes.create_string_buffer(b"work")
        runtime.gpubound_sim_register_kernel(self._function, self._function, None, None, 0, 32, 0)
        self._launch = runtime.cudaLaunchKernel
        self._launch.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t,
                                 ctypes.c_void_p]
        one = Dim3(1, 1, 1)
        self._arguments = (ctypes.addressof(self._function), one, one, None, 0, None)
        register_optimizer_step_post_hook(lambda *_: runtime.cudaDeviceSynchronize())

    def __torch_function__(self, function, types, given=(), words=None):
        result = function(*given, **(words or {}))
        if self._launch(*self._arguments) != 0:
            raise RuntimeError("cudaLaunchKernel failed")
        return result


if __name__ == "__main__":
    del sys.argv[0]
    sys.path[0] = sys.argv[0].rpartition("/")[0] or "."
    with SimulatedCalls():
        runpy.run_path(sys.argv[0], run_name="__main__")
