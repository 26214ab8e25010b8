// SPDX-License-Identifier: Apache-2.0
//
// Classifies work. One object, one thread.
#include "analysis/gpu_work.h"

#include <algorithm>
#include <optional>

namespace gpubound {
namespace {

constexpr int64_t kNotYet = -1;
constexpr int64_t kAbsent = -2;

// More devices than any machine has; what a damaged trace may name.
constexpr uint32_t kMaxDevices = 1024;

}  // namespace

WorkClassifier::WorkClassifier(const ProcessTrace& process)
    : process_(process), fills_(process.devices.size() * process.works.size(), kNotYet) {
  classes_.reserve(process.works.size());
  for (const Work& work : process.works) classes_.push_back(ClassOf(work));
  for (const Stream& stream : process.streams) {
    devices_ = std::max(devices_, std::min(Raw(stream.device), kMaxDevices - 1) + 1);
  }
}

GpuItem WorkClassifier::Classify(const DeviceWork& work) {
  const uint32_t device = Raw(process_.StreamOf(work.stream).device);
  GpuItem item;
  item.begin_ns = work.start_ns;
  item.end_ns = work.end_ns;
  item.device = static_cast<uint16_t>(std::min(device, kMaxDevices - 1));
  item.work = work.work;
  item.fill = kFillOne;
  const size_t row = Raw(work.work);
  if (row < classes_.size()) item.work_class = classes_[row];
  if (row >= process_.works.size() || device >= process_.devices.size()) {
    fill_is_upper_bound_ = true;
    return item;
  }
  int64_t& fill = fills_[device * process_.works.size() + row];
  if (fill == kNotYet) {
    const std::optional<Fill> known =
        SmFill(process_.works[row].info, process_.devices[device].info);
    fill = known ? int64_t{*known} : kAbsent;
  }
  if (fill == kAbsent) {
    fill_is_upper_bound_ = true;
  } else {
    item.fill = static_cast<Fill>(fill);
  }
  return item;
}

}  // namespace gpubound
