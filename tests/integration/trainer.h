// SPDX-License-Identifier: Apache-2.0
//
// What the programs of the integration tests train with: kernels of known length on the stand-in
// CUDA runtime, annotated as a training loop is. For one thread.
#ifndef GPUBOUND_TESTS_INTEGRATION_TRAINER_H_
#define GPUBOUND_TESTS_INTEGRATION_TRAINER_H_

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gpubound/annotate.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/sim/include/gpubound_sim.h"

namespace gpubound {

inline constexpr size_t kCopyBytes = 64 * 1024;

// Addresses that stand for kernels; the durations are in the simulation's script.
inline char policy_forward;
inline char policy_backward;
inline char optimizer_step;

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "victim: %s: error %d\n", what, static_cast<int>(error));
  std::exit(20);
}

inline void RegisterKernel(const void* function, const char* name) {
  const auto add = reinterpret_cast<gpubound_sim_register_kernel_fn>(
      dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel"));
  if (add == nullptr || add(function, name, nullptr, nullptr, 0, 32, 0) != 0) {
    std::fprintf(stderr, "victim: this is no simulated device\n");
    std::exit(21);
  }
}

class Trainer {
 public:
  Trainer() {
    RegisterKernel(&policy_forward, "policy_forward");
    RegisterKernel(&policy_backward, "policy_backward");
    RegisterKernel(&optimizer_step, "optimizer_step");
    Check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    Check(cudaMalloc(&device_, kCopyBytes), "cudaMalloc");
    Check(cudaMallocHost(&host_, kCopyBytes), "cudaMallocHost");
    std::memset(host_, 0, kCopyBytes);
  }
  ~Trainer() {
    cudaFreeHost(host_);
    cudaFree(device_);
    cudaStreamDestroy(stream_);
    if (done_ != nullptr) cudaEventDestroy(done_);
    if (other_ != nullptr) cudaStreamDestroy(other_);
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  void Iterate() {
    Simulate();
    Infer();
    Learn();
  }

  void Storm(int launches) {
    for (int i = 0; i < launches; ++i) Launch(&policy_forward);
  }

  // A kernel of this stream, then one of another stream that waits for it on the device.
  void HandOverByEvent() {
    if (other_ == nullptr) {
      Check(cudaStreamCreate(&other_), "cudaStreamCreate");
      Check(cudaEventCreate(&done_), "cudaEventCreate");
    }
    Launch(&policy_forward);
    Check(cudaEventRecord(done_, stream_), "cudaEventRecord");
    Check(cudaStreamWaitEvent(other_, done_, 0), "cudaStreamWaitEvent");
    std::swap(stream_, other_);
    Launch(&optimizer_step);
    std::swap(stream_, other_);
    Check(cudaStreamSynchronize(other_), "cudaStreamSynchronize");
  }

  // Of the forward pass and the optimizer, one behind the other.
  cudaGraphExec_t Capture() {
    GPUBOUND_OPERATION("capture");
    cudaGraphExec_t executable = nullptr;
    Check(cudaGraphInstantiate(&executable, Captured(&policy_forward), 0), "cudaGraphInstantiate");
    return executable;
  }

  // The same graph, of nodes that are added and not captured, then given the backward pass in place
  // of the forward pass.
  cudaGraphExec_t Build() {
    GPUBOUND_OPERATION("capture");
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t nodes[2] = {};
    Check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    cudaKernelNodeParams kernel = NodeOf(&policy_forward);
    Check(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &kernel), "cudaGraphAddKernelNode");
    kernel = NodeOf(&optimizer_step);
    Check(cudaGraphAddKernelNode(&nodes[1], graph, nodes, 1, &kernel), "cudaGraphAddKernelNode");
    cudaGraphExec_t executable = nullptr;
    Check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    kernel = NodeOf(&policy_backward);
    Check(cudaGraphExecKernelNodeSetParams(executable, nodes[0], &kernel), "SetParams");
    return executable;
  }

  // Makes |executable| one of the backward pass and the optimizer.
  void Update(cudaGraphExec_t executable) {
    GPUBOUND_OPERATION("recapture");
    cudaGraph_t graph = Captured(&policy_backward);
    cudaGraphExecUpdateResultInfo result = {};
    Check(cudaGraphExecUpdate(executable, graph, &result), "cudaGraphExecUpdate");
    Check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }

  void Replay(cudaGraphExec_t executable) {
    GPUBOUND_OPERATION("inference");
    Check(cudaGraphLaunch(executable, stream_), "cudaGraphLaunch");
    Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  // Of the kernel |first| and the optimizer.
  cudaGraph_t Captured(const void* first) {
    cudaGraph_t graph = nullptr;
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    Launch(first);
    Launch(&optimizer_step);
    Check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    return graph;
  }

  static cudaKernelNodeParams NodeOf(void* function) {
    cudaKernelNodeParams kernel = {};
    kernel.func = function;
    kernel.gridDim = dim3(4);
    kernel.blockDim = dim3(128);
    return kernel;
  }

  static void Simulate() {
    GPUBOUND_OPERATION("simulation");
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < end) {
    }
  }

  void Infer() {
    GPUBOUND_OPERATION("inference");
    Check(cudaMemcpyAsync(device_, host_, kCopyBytes, cudaMemcpyHostToDevice, stream_), "copy");
    Launch(&policy_forward);
    Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  void Learn() {
    GPUBOUND_OPERATION("backpropagation");
    Launch(&policy_backward);
    Launch(&optimizer_step);
    Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  void Launch(const void* function) {
    Check(cudaLaunchKernel(function, dim3(4), dim3(128), nullptr, 0, stream_), "cudaLaunchKernel");
  }

  cudaStream_t stream_ = nullptr;
  cudaStream_t other_ = nullptr;
  cudaEvent_t done_ = nullptr;
  void* device_ = nullptr;
  void* host_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_INTEGRATION_TRAINER_H_
