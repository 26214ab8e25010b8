/* SPDX-License-Identifier: Apache-2.0
 *
 * Host bodies for the simulated device: how a program that was compiled without nvcc gives its
 * kernels something to compute when it runs on the stand-in libcudart.so.13.
 *
 * A program never links against these entry points. It looks one up and works without it:
 *
 *     int (*register_kernel)(...) = dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel");
 *
 * Found: the program runs on the simulated device and registers each kernel once, by the address
 * that it later passes to cudaLaunchKernel (the address of any function or object of its own; it
 * is never called through). Not found: the program runs on a real CUDA runtime, which got its
 * kernels from a fat binary.
 *
 * examples/cartpole_ppo/launch.h declares the same contract for itself, since an example includes
 * nothing of the tests; the two are changed together.
 *
 * The simulated device's memory is host memory, so a body reads and writes what cudaMalloc gave.
 */
#ifndef GPUBOUND_TESTS_SIM_GPUBOUND_SIM_H_
#define GPUBOUND_TESTS_SIM_GPUBOUND_SIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One launch as the body sees it. `args` points at argument_count pointers, each to a copy of the
 * argument's bytes taken when the launch was made, exactly as cudaLaunchKernel's args. Valid during
 * the call only. */
struct gpubound_sim_launch {
  uint32_t grid[3];
  uint32_t block[3];
  void** args;
};

/* Runs the whole grid, once per launch, on a thread of the simulated device at the kernel's place
 * in stream order. Bodies of different streams may run at the same time. It must not throw and must
 * not call CUDA. */
typedef void (*gpubound_sim_body)(const struct gpubound_sim_launch* launch);

/* Makes `function` launchable. `name` is what the profiler will be told (mangled or not, as given)
 * and, with `argument_sizes`, is copied. A null `body` computes nothing: the kernel then takes its
 * scripted duration only. Registering `function` again replaces it. Thread safe; callable before
 * the first CUDA call, which it does not count as. Returns 0, or -1 when an argument is invalid. */
typedef int (*gpubound_sim_register_kernel_fn)(const void* function, const char* name,
                                               gpubound_sim_body body, const size_t* argument_sizes,
                                               uint32_t argument_count,
                                               uint32_t registers_per_thread,
                                               uint32_t static_shared_bytes);

/* Exported by the stand-in libcudart.so.13. */
int gpubound_sim_register_kernel(const void* function, const char* name, gpubound_sim_body body,
                                 const size_t* argument_sizes, uint32_t argument_count,
                                 uint32_t registers_per_thread, uint32_t static_shared_bytes);

/* What CUPTI has been told to do for every call, which is what being watched costs a program. */
struct gpubound_sim_listening {
  uint32_t kinds;
  uint32_t callbacks;
  uint32_t subscribers;
};
typedef void (*gpubound_sim_listening_fn)(struct gpubound_sim_listening* now);

/* Exported by the stand-in libcupti. */
void gpubound_sim_listening_now(struct gpubound_sim_listening* now);

/* Exported by both stand-ins, never by NVIDIA's libraries: a profiler that finds it says on every
 * output that the device was simulated. Non-zero. */
#ifdef GPUBOUND_SIM_DECLARE_MARKER
extern const int gpubound_simulated_device;
#endif

#ifdef __cplusplus
}
#endif

#endif /* GPUBOUND_TESTS_SIM_GPUBOUND_SIM_H_ */
