// SPDX-License-Identifier: Apache-2.0
//
// Samples what stands beside the trace at a low rate, on a thread of its own: what NVML says of
// each device, and what this process and everything that it started use of CPU and memory. It
// measures no device work: it tells what nvidia-smi would have claimed.
#ifndef GPUBOUND_CUPTI_HOOKS_UTILIZATION_SOURCE_H_
#define GPUBOUND_CUPTI_HOOKS_UTILIZATION_SOURCE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "cupti_hooks/sampling_thread.h"
#include "libprofiler/device_source.h"

namespace gpubound {

struct UtilizationOptions {
  int64_t interval_ns = 1'000'000'000;  // GPUBOUND_SAMPLE_MS; 0: nothing is sampled
  std::string nvml = "libnvidia-ml.so.1";
  std::string proc = "/proc";
};

class UtilizationSource final : public DeviceSource {
 public:
  explicit UtilizationSource(UtilizationOptions options) : options_(std::move(options)) {}

  const char* name() const override { return "utilization"; }
  bool records_device_work() const override { return false; }
  // True: samples are taken from now on, the first at once.
  bool Start(DeviceHost* host) override;
  bool ReadClock(int64_t* now_ns) override;  // it has none
  void Stop(int64_t deadline_ns) override { thread_.Stop(deadline_ns); }
  void AbandonInForkChild() noexcept override { thread_.AbandonInForkChild(); }

 private:
  const UtilizationOptions options_;
  SamplingThread thread_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_UTILIZATION_SOURCE_H_
