// SPDX-License-Identifier: Apache-2.0
//
// A small CUDA program as nvcc builds it: triple-chevron launches, two streams, copies, an
// operation of its own. It never looks at its results, so it runs over the simulated device too,
// where kernels built by nvcc have no host body.
#include <gpubound/annotate.h>
#include <cstdio>

__global__ void Saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

int main() {
  constexpr int kElements = 1024;
  constexpr size_t kBytes = kElements * sizeof(float);
  float host[kElements] = {};
  float *x = nullptr, *y = nullptr;
  cudaStream_t first, second;
  cudaMalloc(&x, kBytes);
  cudaMalloc(&y, kBytes);
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  {
    GPUBOUND_OPERATION("inference");
    cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, first);
    for (int i = 0; i < 10; ++i)
      Saxpy<<<4, 256, 0, i % 2 ? first : second>>>(2.0f, x, y, kElements);
    cudaMemcpyAsync(host, y, kBytes, cudaMemcpyDeviceToHost, first);
  }
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("saxpy: %s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
