// SPDX-License-Identifier: Apache-2.0
//
// Device work as the sweep sees it: an interval with its class, its device and its SM fill. One
// object, one thread.
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
  WorkId work{};
};

// Looks up class and fill once per distinct work row, not once per record.
class WorkClassifier {
 public:
  explicit WorkClassifier(const ProcessTrace& process);  // outlives the object

  GpuItem Classify(const DeviceWork& work);

  // All device numbers are below.
  uint32_t devices() const { return devices_; }
  // Work whose geometry or device is not known was taken as filling the device.
  bool fill_is_upper_bound() const { return fill_is_upper_bound_; }

 private:
  const ProcessTrace& process_;
  std::vector<WorkClass> classes_;  // by work row
  std::vector<int64_t> fills_;      // by device and work row
  uint32_t devices_ = 1;
  bool fill_is_upper_bound_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_GPU_WORK_H_
