// SPDX-License-Identifier: Apache-2.0
//
// Owners of CUDA streams, events and memory, and the one way in which this program reports a failed
// CUDA call: an exception that names what was being done and what the runtime answered.
//
// Owners may be used by one thread at a time. They free what they own without looking at the
// result: after a failed call the runtime is beyond repair, and the first error is the one worth
// reading.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_CUDA_RESOURCES_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_CUDA_RESOURCES_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace gpubound::cartpole {

// Throws std::runtime_error unless |status| is cudaSuccess. |what| names the operation.
void CheckCuda(cudaError_t status, const char* what);

// The name of the device that everything runs on. Throws as above when there is none.
std::string DeviceName();

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  // Blocks until everything that was enqueued has completed.
  void Synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

// A point in one stream that another stream waits for, without the host.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // What |later| is given from now on runs after all that |earlier| was given until now.
  void Order(const Stream& earlier, const Stream& later);

 private:
  cudaEvent_t event_ = nullptr;
};

void* AllocateDevice(size_t bytes);
void* AllocatePinned(size_t bytes);

// |count| zeroed elements of trivial type T in device memory.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count)
      : data_(static_cast<T*>(AllocateDevice(count * sizeof(T)))), count_(count) {}
  ~DeviceBuffer() { static_cast<void>(cudaFree(data_)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* get() const { return data_; }
  size_t size() const { return count_; }

 private:
  T* data_;
  size_t count_;
};

// |count| zeroed elements in page-locked host memory: copies from and to it are asynchronous.
template <typename T>
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t count)
      : data_(static_cast<T*>(AllocatePinned(count * sizeof(T)))), count_(count) {}
  ~PinnedBuffer() { static_cast<void>(cudaFreeHost(data_)); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  T* get() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t index) const { return data_[index]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }

 private:
  T* data_;
  size_t count_;
};

// Copies |count| elements in stream order. The host side must be pinned and left alone until then.
void CopyBytes(const Stream& stream, void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

template <typename T>
void CopyToDevice(const Stream& stream, T* device, const T* host, size_t count) {
  CopyBytes(stream, device, host, count * sizeof(T), cudaMemcpyHostToDevice);
}
template <typename T>
void CopyToHost(const Stream& stream, T* host, const T* device, size_t count) {
  CopyBytes(stream, host, device, count * sizeof(T), cudaMemcpyDeviceToHost);
}

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_CUDA_RESOURCES_H_
