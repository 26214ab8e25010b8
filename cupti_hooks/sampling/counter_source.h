// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters of the devices that the process uses (--counters occupancy): how many
// multiprocessors and warps were active, how busy the device's memory was, some hundred times a
// second. Off by default: it takes rights that most users do not have, CUPTI serves one such
// session per device, and the counters see every process that uses it.
//
// Where it cannot be had, one note says why, and everything else goes on.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_COUNTER_SOURCE_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_COUNTER_SOURCE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "cupti_hooks/cupti/cupti_library.h"
#include "cupti_hooks/sampling/sampling_source.h"

namespace gpubound {

struct CounterOptions {
  int64_t interval_ns = 2'000'000;  // of a sample
  int64_t poll_ns = 50'000'000;     // between two looks at them, and for devices that come into use
  std::string library_path;         // GPUBOUND_CUPTI_LIBRARY
  // How CUPTI is found, as LoadCupti; replaced in tests.
  bool (*load)(const CuptiSearch& search, size_t* next, CuptiApi* api,
               std::string* why) = &LoadCupti;
};

class CounterSource final : public SamplingSource {
 public:
  explicit CounterSource(CounterOptions options) : options_(std::move(options)) {}

  const char* name() const override { return "counters"; }
  // True: each device is sampled from when its first work is known.
  bool Start(DeviceHost* host) override;

 private:
  const CounterOptions options_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_COUNTER_SOURCE_H_
