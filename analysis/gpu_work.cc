// SPDX-License-Identifier: Apache-2.0
//
// Classifies work. One object, one thread.
#include "analysis/gpu_work.h"

#include <algorithm>
#include <optional>

namespace gpubound {
namespace {

// More devices than any machine has; what a damaged trace may name.
constexpr uint32_t kMaxDevices = 1024;

}  // namespace

WorkClassifier::WorkClassifier(const ProcessTrace& process)
    : process_(process),
      known_devices_(std::min<size_t>(process.devices.size(), kMaxDevices)),
      known_works_(process.works.size()),
      known_(known_devices_ * known_works_) {
  classes_.reserve(process.works.size());
  for (const Work& work : process.works) classes_.push_back(ClassOf(work));
  for (const Stream& stream : process.streams) {
    device_of_.push_back(std::min(Raw(stream.device), kMaxDevices - 1));
    devices_ = std::max(devices_, device_of_.back() + 1);
  }
}

GpuItem WorkClassifier::ClassifySlowPath(const DeviceWork& work) {
  const uint32_t device = DeviceOf(work.stream);
  const size_t row = Raw(work.work);
  GpuItem item{work.start_ns, work.end_ns, kFillOne, static_cast<uint16_t>(device),
               kCompute,      work.work};
  if (row < classes_.size()) item.work_class = classes_[row];
  const bool known = row < known_works_ && device < known_devices_;
  const std::optional<Fill> fill =
      known ? SmFill(process_.works[row].info, process_.devices[device].info) : std::nullopt;
  item.fill = fill.value_or(kFillOne);
  item.fill_known = fill.has_value();
  fill_is_upper_bound_ |= !item.fill_known;
  if (known) {
    known_[device * known_works_ + row] = {true, item.work_class, item.fill, item.fill_known};
  }
  return item;
}

}  // namespace gpubound
