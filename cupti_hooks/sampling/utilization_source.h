// SPDX-License-Identifier: Apache-2.0
//
// Samples what stands beside the trace at a low rate, on a thread of its own: what NVML says of
// each device, and what this process and everything that it started use of CPU and memory. It
// measures no device work: it tells what nvidia-smi would have claimed.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_UTILIZATION_SOURCE_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_UTILIZATION_SOURCE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "cupti_hooks/sampling/sampling_source.h"

namespace gpubound {

struct UtilizationOptions {
  int64_t interval_ns = 1'000'000'000;  // GPUBOUND_SAMPLE_MS; 0: nothing is sampled
  std::string nvml = "libnvidia-ml.so.1";
  std::string proc = "/proc";
};

class UtilizationSource final : public SamplingSource {
 public:
  explicit UtilizationSource(UtilizationOptions options) : options_(std::move(options)) {}

  const char* name() const override { return "utilization"; }
  // True: samples are taken from now on, the first at once.
  bool Start(DeviceHost* host) override;

 private:
  const UtilizationOptions options_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_UTILIZATION_SOURCE_H_
