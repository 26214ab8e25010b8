// SPDX-License-Identifier: Apache-2.0
//
// Numbers the devices of a run for formats that tell them apart by number: each process has
// ordinals of its own, by which two GPUs would be one. A device has the ordinal of the first
// process that sees it, or where another one has it, the smallest number that none has. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_DEVICES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

class ExportDevices {
 public:
  // |run| outlives the object.
  explicit ExportDevices(const Run& run);

  // Of the device with that id of a process, by index in the run.
  uint32_t NumberOf(size_t process, DeviceId device) const;

  // By number, each as the first process has it that sees it.
  const std::map<uint32_t, const Device*>& devices() const { return devices_; }

 private:
  std::vector<std::vector<uint32_t>> numbers_;  // by process and device id
  std::map<uint32_t, const Device*> devices_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_DEVICES_H_
