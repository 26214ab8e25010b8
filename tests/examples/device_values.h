// SPDX-License-Identifier: Apache-2.0
//
// Values in device memory and back, for tests of kernels on the simulated device. Everything waits
// until it is done. Used by one thread.
#ifndef GPUBOUND_TESTS_EXAMPLES_DEVICE_VALUES_H_
#define GPUBOUND_TESTS_EXAMPLES_DEVICE_VALUES_H_

#include <algorithm>
#include <vector>

#include "examples/cartpole_ppo/cuda_resources.h"

namespace gpubound::cartpole {

template <typename T>
class DeviceValues {
 public:
  DeviceValues(const Stream& stream, const std::vector<T>& values)
      : stream_(stream), buffer_(values.size()) {
    Write(values);
  }
  DeviceValues(const Stream& stream, size_t count) : stream_(stream), buffer_(count) {}

  T* get() const { return buffer_.get(); }

  void Write(const std::vector<T>& values) {
    const PinnedBuffer<T> staging(buffer_.size());
    std::copy(values.begin(), values.end(), staging.begin());
    CopyToDevice(stream_, buffer_.get(), staging.get(), staging.size());
    stream_.Synchronize();
  }

  std::vector<T> Read() const {
    const PinnedBuffer<T> staging(buffer_.size());
    CopyToHost(stream_, staging.get(), buffer_.get(), buffer_.size());
    stream_.Synchronize();
    return {staging.begin(), staging.end()};
  }

 private:
  const Stream& stream_;
  DeviceBuffer<T> buffer_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_TESTS_EXAMPLES_DEVICE_VALUES_H_
