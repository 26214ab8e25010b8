// SPDX-License-Identifier: Apache-2.0
//
// Device work as the sweep sees it: an interval with its class, its device and its SM fill. Pure.
#ifndef GPUBOUND_ANALYSIS_GPU_WORK_H_
#define GPUBOUND_ANALYSIS_GPU_WORK_H_

#include <cstdint>
#include <vector>

#include "analysis/run.h"
#include "analysis/sm_fill.h"
#include "analysis/work_classes.h"

namespace gpubound {

struct GpuItem {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Fill fill = 0;
  uint16_t device = 0;  // DeviceId
  WorkClass work_class = kCompute;
};

struct GpuItems {
  std::vector<GpuItem> items;  // parallel to ProcessTrace::device_work, so sorted by begin
  uint32_t devices = 0;        // all device numbers are below
  // Work whose geometry or device is not known was taken as filling the device.
  bool fill_is_upper_bound = false;
};

GpuItems ClassifyWork(const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_GPU_WORK_H_
