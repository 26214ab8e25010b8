// SPDX-License-Identifier: Apache-2.0
//
// The physical devices of a run, found by what each process knows of them, and the meter of each.
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_DEVICE_TABLE_H_
#define GPUBOUND_ANALYSIS_PROCESSES_DEVICE_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/processes/device_meter.h"
#include "analysis/processes/device_usage.h"
#include "analysis/trace/run.h"

namespace gpubound {

// A device is its uuid; MIG and renumbering through CUDA_VISIBLE_DEVICES make ordinals unreliable.
struct PhysicalDevice {
  std::string host;
  uint32_t ordinal = 0;
  DeviceUsage usage;
  DeviceMeter meter;
};

class DeviceTable {
 public:
  explicit DeviceTable(const std::vector<Interval>& windows) : windows_(windows) {}

  PhysicalDevice* Find(const ProcessTrace& process, DeviceId id) {
    const Device& device = process.DeviceOf(id);
    const std::string& host = process.identity.host;
    const auto [place, is_new] =
        places_.try_emplace(KeyOf(device.uuid, host, device.info.index), devices_.size());
    if (!is_new) return &devices_[place->second];
    PhysicalDevice& added =
        devices_.emplace_back(PhysicalDevice{host, device.info.index, {}, DeviceMeter(windows_)});
    added.usage.uuid = device.uuid;
    added.usage.name = device.name;
    return &added;
  }

  // |numbers|: of the processes of the one that wrote, in the run at hand.
  void Visit(StateArchive& archive, int64_t from_ns, const std::vector<size_t>& numbers) {
    uint64_t count = devices_.size();
    archive.All(count);
    for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
      if (archive.reads()) devices_.push_back({{}, 0, {}, DeviceMeter(windows_)});
      PhysicalDevice& device = devices_[i];
      archive.All(device.host, device.ordinal, device.usage.uuid, device.usage.name,
                  device.usage.simulated, device.usage.used);
      places_.try_emplace(KeyOf(device.usage.uuid, device.host, device.ordinal), i);
      device.meter.Visit(archive, from_ns);
      if (!archive.reads()) continue;
      const std::vector<DeviceBand>& bands = device.meter.bands();
      if (std::any_of(bands.begin(), bands.end(),
                      [&](const DeviceBand& band) { return band.process >= numbers.size(); })) {
        return archive.Fail();
      }
      device.meter.Renumber(numbers);
    }
  }

  // Of a device, when work on it could have run unrecorded; disjoint and ascending.
  struct Unknown {
    std::string host;
    uint32_t ordinal = 0;
    std::string uuid;
    std::vector<Interval> times;
  };
  // Once all processes have found their devices: of those that |unknown| says anything of.
  std::vector<Unknown> UnknownOf(const RunUnknown& unknown) const {
    std::vector<Unknown> all;
    for (const PhysicalDevice& device : devices_) {
      const std::vector<size_t>& seen_by = device.usage.seen_by;
      std::vector<Interval> times;
      for (size_t p = 0; p < unknown.size(); ++p) {
        const ProcessUnknown& of = unknown[p];
        if (!of.sees_any && !std::binary_search(seen_by.begin(), seen_by.end(), p)) continue;
        times.insert(times.end(), of.times.begin(), of.times.end());
        times.insert(times.end(), of.outside.begin(), of.outside.end());
      }
      if (times.empty()) continue;
      all.push_back({device.host, device.ordinal, device.usage.uuid, Union(std::move(times))});
    }
    return all;
  }
  // Of that, each device is told what lies in |time_of|(device).
  template <typename TimeOf>
  void TakeUnknown(const std::vector<Unknown>& all, TimeOf time_of) {
    for (const Unknown& of : all) {
      const auto place = places_.find(KeyOf(of.uuid, of.host, of.ordinal));
      if (place == places_.end()) continue;
      PhysicalDevice& device = devices_[place->second];
      std::vector<Interval> times;
      for (const Interval& time : of.times) times.push_back(time.ClippedTo(time_of(device)));
      device.meter.SetUnknown(Union(std::move(times)));
    }
  }

  // Nothing more is told of what is before |until_ns|.
  void EndAt(int64_t until_ns) {
    for (PhysicalDevice& device : devices_) {
      if (until_ns == kOpenEnded) {
        device.meter.MoveToEnd();
      } else {
        device.meter.MoveTo(until_ns);
      }
      device.meter.PassUnknown(until_ns);
    }
  }
  // What was measured of some of the devices, from where this has come to.
  void Append(const DeviceTable& later) {
    for (const PhysicalDevice& device : later.devices_) {
      const auto place = places_.find(KeyOf(device.usage.uuid, device.host, device.ordinal));
      if (place != places_.end()) devices_[place->second].meter.Append(device.meter);
    }
  }

  std::vector<DeviceUsage> Finish() {
    std::sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.host, a.ordinal, a.usage.uuid) < std::tie(b.host, b.ordinal, b.usage.uuid);
    });
    std::vector<DeviceUsage> usages;
    EndAt(kOpenEnded);
    for (PhysicalDevice& device : devices_) {
      device.usage.windows = device.meter.Times();
      device.usage.bands = device.meter.bands();
      std::sort(device.usage.bands.begin(), device.usage.bands.end(),
                [](const auto& a, const auto& b) { return a.process < b.process; });
      usages.push_back(std::move(device.usage));
    }
    return usages;
  }

 private:
  // A device is its uuid, without one what its host calls it.
  using Key = std::tuple<std::string, std::string, uint32_t>;
  static Key KeyOf(const std::string& uuid, const std::string& host, uint32_t ordinal) {
    return uuid.empty() ? Key(uuid, host, ordinal) : Key(uuid, "", 0);
  }

  const std::vector<Interval>& windows_;
  std::deque<PhysicalDevice> devices_;
  std::map<Key, size_t> places_;  // in devices_, until Finish()
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_DEVICE_TABLE_H_
