// SPDX-License-Identifier: Apache-2.0
//
// Devices that several runs share in a replay: one line of slots for each resource of each. A device
// is its uuid, or its number where it has none. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_SHARED_DEVICES_H_
#define GPUBOUND_ANALYSIS_REPLAY_SHARED_DEVICES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/replay/slot_line.h"
#include "analysis/trace/run.h"

namespace gpubound {

class SharedDevices {
 public:
  // Kernels of so many runs are at most on a device at the same time, as far as those of one run
  // were: 1 where it is sliced in time, more under MPS where kernels leave room.
  explicit SharedDevices(uint32_t runs_beside) : runs_beside_(runs_beside) {}

  SlotLine& LineOf(const Device& device, uint32_t resource) {
    const std::string name = device.uuid.empty() ? std::to_string(device.info.index) : device.uuid;
    return lines_[{name, resource}];
  }

  uint32_t runs_beside() const { return runs_beside_; }

 private:
  const uint32_t runs_beside_;
  std::map<std::pair<std::string, uint32_t>, SlotLine> lines_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_SHARED_DEVICES_H_
