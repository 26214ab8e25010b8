// SPDX-License-Identifier: Apache-2.0
//
// Launches a kernel (device_code.h) with cudaLaunchKernel, on whichever device the program runs:
//
//     inline constexpr Kernel<Scale> kScale{"Scale"};
//     kScale(stream, count, 0.5f, count, values);
//
// Compiled by nvcc, the CUDA runtime knows the kernel already. Compiled by anything else there is
// only the host function: the first launch hands it to the simulated device, which runs it for
// every launch, in stream order, with the arguments of that launch.
//
// A kernel may be launched by any thread; the device keeps the order within a stream.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_LAUNCH_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "examples/cartpole_ppo/device_code.h"

namespace gpubound::cartpole {

// One launch as the simulated device hands it to a host body, and the body's type. The other end of
// this contract is tests/sim/include/gpubound_sim.h; the two are changed together.
struct SimulatedLaunch {
  uint32_t grid[3];
  uint32_t block[3];
  void** arguments;
};
using HostBody = void (*)(const SimulatedLaunch*);

// Throws std::runtime_error with the remedy when this build cannot run on the device that is there:
// GPU code on the simulated device, or a build without GPU code on a real one. To be called before
// the first launch.
void RequireDeviceForThisBuild();

// Gives |function| to the simulated device, found by dlsym. Throws as above when there is none.
void RegisterHostBody(const void* function, const char* name, HostBody body,
                      const size_t* argument_sizes, size_t argument_count);

// Launches at least |items| threads. Throws std::runtime_error when the runtime refuses.
void LaunchKernel(const void* function, const char* name, cudaStream_t stream, size_t items,
                  void** arguments);

template <auto kFunction>
class Kernel;

template <typename... Parameters, void (*kFunction)(Parameters...)>
class Kernel<kFunction> {
 public:
  // |name| is what a profiler is told where no compiler told the device.
  constexpr explicit Kernel(const char* name) : name_(name) {}

  // Enqueues one launch over |items| items; the arguments are copied.
  void operator()(cudaStream_t stream, size_t items,
                  std::type_identity_t<Parameters>... arguments) const {
    const void* function = reinterpret_cast<const void*>(kFunction);
#ifndef __CUDACC__
    [[maybe_unused]] static const bool registered = [this, function] {
      constexpr size_t kSizes[] = {sizeof(Parameters)...};
      RegisterHostBody(function, name_, &RunOnHost, kSizes, sizeof...(Parameters));
      return true;
    }();
#endif
    void* pointers[] = {&arguments...};
    LaunchKernel(function, name_, stream, items, pointers);
  }

 private:
#ifndef __CUDACC__
  static void RunOnHost(const SimulatedLaunch* launch) {
    Call(launch->arguments, std::index_sequence_for<Parameters...>());
  }
  template <size_t... kIndex>
  static void Call(void** arguments, std::index_sequence<kIndex...>) {
    kFunction(*static_cast<Parameters*>(arguments[kIndex])...);
  }
#endif

  const char* name_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_LAUNCH_H_
