// SPDX-License-Identifier: Apache-2.0
//
// Devices of a run: what each physical device did over all processes that used it. Pure.
#ifndef GPUBOUND_ANALYSIS_DEVICE_USAGE_H_
#define GPUBOUND_ANALYSIS_DEVICE_USAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/clock_align.h"
#include "analysis/interval.h"
#include "analysis/run.h"

namespace gpubound {

struct DeviceUsage {
  std::string uuid;
  std::string name;
  bool simulated = false;
  bool used = false;       // some work ran on it, in the span or not
  int64_t busy_ns = 0;     // union of all work
  int64_t compute_ns = 0;  // union of the work of a class
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  double smi_model = 0;
  std::optional<double> nvml_utilization;  // mean of NVML's samples in the span
};

// Every device that any process saw, in order of host and ordinal, within |span| (trace time of the
// reference host of |clocks|). A device without uuid is one per host and ordinal.
std::vector<DeviceUsage> MeasureDevices(const Run& run, const ClockAlignment& clocks,
                                        const Interval& span);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DEVICE_USAGE_H_
