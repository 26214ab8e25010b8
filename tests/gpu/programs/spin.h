// SPDX-License-Identifier: Apache-2.0
//
// A kernel that does nothing for a given time, for the programs here: compiled by nvcc, a kernel of
// the GPU; by a C++ compiler, one that the stand-in libcudart takes for as long as its script says.
// Any thread.
#ifndef GPUBOUND_TESTS_GPU_PROGRAMS_SPIN_H_
#define GPUBOUND_TESTS_GPU_PROGRAMS_SPIN_H_

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/sim/include/gpubound_sim.h"

// Ends the program when |error| is one.
inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: CUDA error %d, expected none\n", what, static_cast<int>(error));
  std::exit(20);
}

#ifdef __CUDACC__

__global__ void Spin(long long ns) {
  long long begin = 0;
  long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

inline const void* SpinKernel() { return reinterpret_cast<const void*>(&Spin); }

#else

inline const void* SpinKernel() {
  static char address;
  static const bool registered = [] {
    const auto add = reinterpret_cast<gpubound_sim_register_kernel_fn>(
        dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel"));
    const size_t argument = sizeof(long long);
    return add != nullptr && add(&address, "Spin", nullptr, &argument, 1, 32, 0) == 0;
  }();
  if (registered) return &address;
  std::fprintf(stderr, "this build has no GPU code; it runs on the simulated device only\n");
  std::exit(21);
}

#endif

// One block of one warp, for |ns|.
inline void LaunchSpin(cudaStream_t stream, long long ns) {
  void* arguments[] = {&ns};
  Check(cudaLaunchKernel(SpinKernel(), dim3(1), dim3(32), arguments, 0, stream),
        "cudaLaunchKernel");
}

inline int NumberAt(int argc, char** argv, int index) {
  return argc > index ? std::atoi(argv[index]) : 0;
}

#endif  // GPUBOUND_TESTS_GPU_PROGRAMS_SPIN_H_
