// SPDX-License-Identifier: Apache-2.0
//
// Looks up class and fill once per distinct work row, not once per record. No state.
#include "analysis/gpu_work.h"

#include <algorithm>
#include <optional>

namespace gpubound {
namespace {

// Fill by (device, work), computed on first use.
class FillTable {
 public:
  explicit FillTable(const ProcessTrace& process)
      : process_(process), fills_(process.devices.size() * process.works.size(), kNotYet) {}

  std::optional<Fill> Of(DeviceId device, WorkId work) {
    if (Raw(device) >= process_.devices.size() || Raw(work) >= process_.works.size()) {
      return std::nullopt;
    }
    int64_t& entry = fills_[Raw(device) * process_.works.size() + Raw(work)];
    if (entry == kNotYet) {
      const std::optional<Fill> fill =
          SmFill(process_.works[Raw(work)].info, process_.devices[Raw(device)].info);
      entry = fill ? int64_t{*fill} : kAbsent;
    }
    if (entry == kAbsent) return std::nullopt;
    return static_cast<Fill>(entry);
  }

 private:
  static constexpr int64_t kNotYet = -1;
  static constexpr int64_t kAbsent = -2;
  const ProcessTrace& process_;
  std::vector<int64_t> fills_;
};

}  // namespace

GpuItems ClassifyWork(const ProcessTrace& process) {
  GpuItems result;
  result.items.reserve(process.device_work.size());
  result.devices = 1;
  std::vector<WorkClass> classes;
  classes.reserve(process.works.size());
  for (const Work& work : process.works) classes.push_back(ClassOf(work));
  FillTable fills(process);
  for (const DeviceWork& work : process.device_work) {
    const DeviceId device = process.StreamOf(work.stream).device;
    const std::optional<Fill> fill = fills.Of(device, work.work);
    GpuItem item;
    item.begin_ns = work.start_ns;
    item.end_ns = work.end_ns;
    item.device = static_cast<uint16_t>(std::min<uint32_t>(Raw(device), UINT16_MAX));
    item.work_class = Raw(work.work) < classes.size() ? classes[Raw(work.work)] : kCompute;
    item.fill = fill.value_or(kFillOne);
    if (!fill) result.fill_is_upper_bound = true;
    result.devices = std::max<uint32_t>(result.devices, item.device + 1u);
    result.items.push_back(item);
  }
  return result;
}

}  // namespace gpubound
