// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is written once for a GPU and for a machine without one.
//
// A kernel computes `items` independent results and walks them with a stride:
//
//     CARTPOLE_KERNEL void Scale(float factor, size_t count, float* values) {
//       for (size_t item = FirstItem(); item < count; item += ItemStride()) values[item] *= factor;
//     }
//
// nvcc makes that a __global__ function whose threads share the items. Any other compiler makes it
// an ordinary function that one host thread runs over all items, a loop that it can vectorise. Both
// are the same sentence because no kernel here synchronises its block: items never wait for another
// and no two of them write the same value, so the result does not depend on who computes which.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_DEVICE_CODE_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_DEVICE_CODE_H_

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define CARTPOLE_KERNEL __global__
#define CARTPOLE_DEVICE __device__
#define CARTPOLE_HOST_DEVICE __host__ __device__
#else
#define CARTPOLE_KERNEL
#define CARTPOLE_DEVICE
#define CARTPOLE_HOST_DEVICE
#endif

namespace gpubound::cartpole {

#ifdef __CUDACC__
__device__ inline size_t FirstItem() { return size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline size_t ItemStride() { return size_t{gridDim.x} * blockDim.x; }
#else
constexpr size_t FirstItem() { return 0; }
constexpr size_t ItemStride() { return 1; }
#endif

// Samples that one item of a kernel handles together: registers of a GPU thread, vector lanes of a
// host thread. Batch sizes are multiples of it.
constexpr size_t kTile = 8;

// Into how many parts a sum over many values is cut. The order of every addition is fixed, so that
// a seed gives the same bits each time.
constexpr size_t kPartialSums = 32;

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_DEVICE_CODE_H_
