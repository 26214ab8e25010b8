// SPDX-License-Identifier: Apache-2.0
//
// When each device did work of an imported trace that belongs to no process: GPU time that may be
// anybody's. Memory is bounded: where a device has very many such times, neighbours become one. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNASSIGNED_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNASSIGNED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound {

class UnassignedWork {
 public:
  // Intervals that one device keeps: a megabyte of them, and as many rows in each segment.
  static constexpr size_t kMostIntervals = size_t{1} << 16;

  struct OnDevice {
    uint64_t pieces = 0;
    std::vector<Interval> busy;     // ascending and disjoint
    std::set<uint32_t> candidates;  // processes one of which may have launched some
  };

  // Work comes in order of begin.
  void Add(DeviceId device, const Interval& work, const std::set<uint32_t>& candidates = {});

  const std::map<DeviceId, OnDevice>& devices() const { return devices_; }

 private:
  std::map<DeviceId, OnDevice> devices_;
};

// What to say of the |work| of |device|. |of_some|: of the processes of the trace those that use
// the device, or may have launched some of it, are known.
std::string NoteOn(const std::string& device, const UnassignedWork::OnDevice& work, bool of_some);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNASSIGNED_H_
