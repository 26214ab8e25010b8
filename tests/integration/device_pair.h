// SPDX-License-Identifier: Apache-2.0
//
// Training on two devices at once, with known work on each and copies between them. For one thread.
#ifndef GPUBOUND_TESTS_INTEGRATION_DEVICE_PAIR_H_
#define GPUBOUND_TESTS_INTEGRATION_DEVICE_PAIR_H_

#include <cuda_runtime_api.h>
#include <gpubound/annotate.h>

#include "tests/integration/trainer.h"

namespace gpubound {

class DevicePair {
 public:
  DevicePair() {
    RegisterKernel(&policy_forward, "policy_forward");
    RegisterKernel(&policy_backward, "policy_backward");
    for (int device : {0, 1}) {
      Check(cudaSetDevice(device), "cudaSetDevice");
      Check(cudaStreamCreate(&streams_[device]), "cudaStreamCreate");
      Check(cudaMalloc(&memory_[device], kCopyBytes), "cudaMalloc");
    }
  }
  ~DevicePair() {
    for (int device : {0, 1}) {
      cudaFree(memory_[device]);
      cudaStreamDestroy(streams_[device]);
    }
  }
  DevicePair(const DevicePair&) = delete;
  DevicePair& operator=(const DevicePair&) = delete;

  // In operation "update" the forward pass on device 0 and, meanwhile, the backward pass on device
  // 1; when both are done, in operation "exchange", a copy of kCopyBytes from each to the other.
  void Iterate() {
    Update();
    Exchange();
  }

 private:
  void Update() {
    GPUBOUND_OPERATION("update");
    Launch(0, &policy_forward);
    Launch(1, &policy_backward);
    for (int device : {0, 1}) {
      Check(cudaSetDevice(device), "cudaSetDevice");
      Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  void Exchange() {
    GPUBOUND_OPERATION("exchange");
    Send(0, 1);
    Send(1, 0);
  }

  void Launch(int device, const void* function) {
    Check(cudaSetDevice(device), "cudaSetDevice");
    Check(cudaLaunchKernel(function, dim3(4), dim3(128), nullptr, 0, streams_[device]),
          "cudaLaunchKernel");
  }

  void Send(int from, int to) {
    Check(cudaSetDevice(from), "cudaSetDevice");
    Check(cudaMemcpyPeerAsync(memory_[to], to, memory_[from], from, kCopyBytes, streams_[from]),
          "cudaMemcpyPeerAsync");
    Synchronize();
  }

  void Synchronize() {
    for (cudaStream_t stream : streams_) {
      Check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
  }

  cudaStream_t streams_[2] = {};
  void* memory_[2] = {};
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_INTEGRATION_DEVICE_PAIR_H_
