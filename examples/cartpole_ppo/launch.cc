// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/launch.h"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "examples/cartpole_ppo/cuda_resources.h"

namespace gpubound::cartpole {
namespace {

constexpr unsigned kThreadsPerBlock = 128;
constexpr size_t kMaxBlocks = 65535;

// gpubound_sim_register_kernel of tests/sim/include/gpubound_sim.h.
using RegisterKernel = int (*)(const void* function, const char* name, HostBody body,
                               const size_t* argument_sizes, uint32_t argument_count,
                               uint32_t registers_per_thread, uint32_t static_shared_bytes);

// Null on a real CUDA runtime.
RegisterKernel SimulatedDevice() {
  static const auto function =
      reinterpret_cast<RegisterKernel>(dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel"));
  return function;
}

}  // namespace

void RequireDeviceForThisBuild() {
#ifdef __CUDACC__
  if (SimulatedDevice() != nullptr) {
    throw std::runtime_error(
        "this build of cartpole_ppo holds GPU code, but the libcudart.so.13 that was loaded is the "
        "simulated device, which cannot execute it. Take its folder (build/lib/sim) out of "
        "LD_LIBRARY_PATH, or run the build for it, cartpole_ppo.");
  }
#else
  if (SimulatedDevice() == nullptr) {
    throw std::runtime_error(
        "this build of cartpole_ppo holds no GPU code (it was compiled without nvcc), but the "
        "libcudart.so.13 that was loaded is a real CUDA runtime. Put the simulated device's folder "
        "(build/lib/sim) first in LD_LIBRARY_PATH, or configure with -DGPUBOUND_NVCC=/path/to/nvcc "
        "and run cartpole_ppo_cuda.");
  }
#endif
}

void RegisterHostBody(const void* function, const char* name, HostBody body,
                      const size_t* argument_sizes, size_t argument_count) {
  // What nvcc gives kernels as small as these; only the profiler's estimate of SM fill reads it.
  constexpr uint32_t kRegistersPerThread = 32;
  RequireDeviceForThisBuild();
  if (SimulatedDevice()(function, name, body, argument_sizes, static_cast<uint32_t>(argument_count),
                        kRegistersPerThread, 0) != 0) {
    throw std::runtime_error(std::string("the simulated device refused kernel ") + name);
  }
}

void LaunchKernel(const void* function, const char* name, cudaStream_t stream, size_t items,
                  void** arguments) {
  const size_t blocks = (items + kThreadsPerBlock - 1) / kThreadsPerBlock;
  const dim3 grid(static_cast<unsigned>(std::min(blocks, kMaxBlocks)));
  CheckCuda(cudaLaunchKernel(function, grid, dim3(kThreadsPerBlock), arguments, 0, stream), name);
}

}  // namespace gpubound::cartpole
