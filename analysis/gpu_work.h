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
  bool fill_known = true;  // else the work was taken as filling the device
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(begin_ns, end_ns, fill, device, work, fill_known);
    archive.IndexBelow(kWorkClasses, work_class);
  }
};

// Looks up class and fill once per distinct work row, not once per record.
class WorkClassifier {
 public:
  explicit WorkClassifier(const ProcessTrace& process);  // outlives the object

  GpuItem Classify(const DeviceWork& work) {
    const uint32_t device = DeviceOf(work.stream);
    const size_t row = Raw(work.work);
    if (device >= known_devices_ || row >= known_works_) return ClassifySlowPath(work);
    const Known& known = known_[device * known_works_ + row];
    if (!known.valid) return ClassifySlowPath(work);
    return {work.start_ns,    work.end_ns, known.fill,      static_cast<uint16_t>(device),
            known.work_class, work.work,   known.fill_known};
  }

  // All device numbers are below.
  uint32_t devices() const { return devices_; }
  // Work whose geometry or device is not known was taken as filling the device.
  bool fill_is_upper_bound() const { return fill_is_upper_bound_; }
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(fill_is_upper_bound_);
  }

 private:
  // What is known of a work row on a device.
  struct Known {
    bool valid = false;
    WorkClass work_class = kCompute;
    Fill fill = kFillOne;
    bool fill_known = true;
  };
  uint32_t DeviceOf(StreamId stream) const {
    return Raw(stream) < device_of_.size() ? device_of_[Raw(stream)] : 0;
  }
  GpuItem ClassifySlowPath(const DeviceWork& work);

  const ProcessTrace& process_;
  std::vector<WorkClass> classes_;   // by work row
  std::vector<uint32_t> device_of_;  // by stream
  size_t known_devices_ = 0;
  size_t known_works_ = 0;
  std::vector<Known> known_;  // by device and work row
  uint32_t devices_ = 1;
  bool fill_is_upper_bound_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_GPU_WORK_H_
