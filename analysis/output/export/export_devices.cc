// SPDX-License-Identifier: Apache-2.0
//
// Gives out numbers in the order of processes. No state beyond the result.
#include "analysis/output/export/export_devices.h"

#include <string>
#include <tuple>

namespace gpubound {

ExportDevices::ExportDevices(const Run& run) {
  // A device is its uuid; one without is told by host and ordinal.
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> known;
  uint32_t free = 0;
  for (const ProcessTrace& process : run.processes) {
    std::vector<uint32_t>& numbers = numbers_.emplace_back(process.devices.size());
    for (size_t id = 1; id < process.devices.size(); ++id) {
      const Device& device = process.devices[id];
      const uint32_t ordinal = device.info.index;
      const auto key = device.uuid.empty()
                           ? std::tuple(std::string(), process.identity.host, ordinal)
                           : std::tuple(device.uuid, std::string(), uint32_t{0});
      const auto [entry, added] = known.try_emplace(key, ordinal);
      if (added && devices_.count(ordinal) != 0) {
        while (devices_.count(free) != 0) ++free;
        entry->second = free;
      }
      if (added) devices_[entry->second] = &device;
      numbers[id] = entry->second;
    }
  }
}

uint32_t ExportDevices::NumberOf(size_t process, DeviceId device) const {
  const std::vector<uint32_t>& numbers = numbers_[process];
  return Raw(device) < numbers.size() ? numbers[Raw(device)] : 0;
}

}  // namespace gpubound
