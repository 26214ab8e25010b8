// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/cuda_resources.h"

#include <cstring>
#include <stdexcept>

namespace gpubound::cartpole {

void CheckCuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(status) + ", " +
                           cudaGetErrorString(status));
}

std::string DeviceName() {
  int device = 0;
  CheckCuda(cudaGetDevice(&device), "looking for an NVIDIA GPU with a driver for this CUDA");
  cudaDeviceProp properties;
  CheckCuda(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  return properties.name;
}

// Non-blocking: the legacy default stream, which nothing here uses, orders neither of them.
Stream::Stream() {
  CheckCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }

void Stream::Synchronize() const {
  CheckCuda(cudaStreamSynchronize(stream_), "waiting for a stream");
}

Event::Event() {
  CheckCuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
}

Event::~Event() { static_cast<void>(cudaEventDestroy(event_)); }

void Event::Order(const Stream& earlier, const Stream& later) {
  CheckCuda(cudaEventRecord(event_, earlier.get()), "recording an event");
  CheckCuda(cudaStreamWaitEvent(later.get(), event_, 0), "making a stream wait for an event");
}

void* AllocateDevice(size_t bytes) {
  void* memory = nullptr;
  CheckCuda(cudaMalloc(&memory, bytes), "allocating device memory");
  CheckCuda(cudaMemset(memory, 0, bytes), "clearing device memory");
  // cudaMemset may return before it is done, and the streams here do not wait for the default one.
  CheckCuda(cudaDeviceSynchronize(), "clearing device memory");
  return memory;
}

void* AllocatePinned(size_t bytes) {
  void* memory = nullptr;
  CheckCuda(cudaMallocHost(&memory, bytes), "allocating pinned host memory");
  std::memset(memory, 0, bytes);
  return memory;
}

void CopyBytes(const Stream& stream, void* to, const void* from, size_t bytes,
               cudaMemcpyKind kind) {
  CheckCuda(cudaMemcpyAsync(to, from, bytes, kind, stream.get()),
            kind == cudaMemcpyHostToDevice ? "copying to the device" : "copying to the host");
}

}  // namespace gpubound::cartpole
