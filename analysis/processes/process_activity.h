// SPDX-License-Identifier: Apache-2.0
//
// Hands what each process did on devices (device_activity.h) to the meters of those, change by
// change or, where that is enough, a stretch at once. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_PROCESS_ACTIVITY_H_
#define GPUBOUND_ANALYSIS_PROCESSES_PROCESS_ACTIVITY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/processes/device_meter.h"
#include "analysis/processes/device_table.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What one process did, in the time of the reference host.
class ProcessActivity {
 public:
  // |from_ns|: of what was before it, others tell, but not of what runs then.
  ProcessActivity(const Run& run, size_t number, const DeviceActivity* activity, int64_t offset_ns,
                  int64_t from_ns, DeviceTable* devices)
      : number_(number),
        process_(run.processes[number]),
        offset_ns_(offset_ns),
        devices_(*devices) {
    for (uint32_t id = 1; id < process_.devices.size(); ++id) {
      const Device& device = process_.devices[id];
      if (device.name.empty() && device.uuid.empty() && device.info.multiprocessors == 0) continue;
      DeviceUsage& usage = See(static_cast<DeviceId>(id))->usage;
      usage.simulated |= device.info.simulated;
      usage.memory_bytes =
          std::max(usage.memory_bytes, static_cast<int64_t>(device.info.memory_bytes));
    }
    if (activity == nullptr) return;
    for (const uint32_t device : activity->used()) {
      Of(device).device->usage.used = true;
    }
    reader_.emplace(*activity);
    const RunningOnDevices running =
        reader_->Seek(from_ns == INT64_MIN ? INT64_MIN : from_ns - offset_ns_);
    for (const auto& [device, now] : running) {
      if (now != 0) Of(device).meter().Change(Of(device).band, from_ns, now);
    }
    Read();
  }

  // Once there is one of these for each process: whether no other one uses its devices.
  bool IsAlone() const {
    return std::all_of(by_id_.begin(), by_id_.end(), [](const Place& place) {
      return place.device == nullptr || place.meter().bands().size() == 1;
    });
  }
  int64_t NextTime() const { return next_ns_; }
  // There is a next change.
  DeviceMeter& NextMeter() { return Of(next_.device).meter(); }
  size_t NextBand() { return Of(next_.device).band; }
  RunningWork NextRunning() const { return next_.now; }
  // Goes on to the one behind that. False: it is of another device.
  bool Advance() {
    const uint32_t device = next_.device;
    Read();
    return next_.device == device;
  }
  DeviceMeter::Stretch::Lane Lane() const {
    return {.next_ns = next_ns_, .next = next_.now, .ahead = reader_->ahead()};
  }
  void AdvanceTo(const DeviceMeter::Stretch::Lane& lane) {
    reader_->Skip(lane.taken, static_cast<uint64_t>(lane.step_ns));
    next_.time_ns += lane.step_ns;
    next_.now = lane.next;
    next_ns_ = lane.next_ns;
  }
  // All that happens before |until_ns|, and the next change in any case.
  void TakeUntil(int64_t until_ns) {
    do {
      const Place place = Of(next_.device);
      DeviceMeter& meter = place.meter();
      meter.Change(place.band, next_ns_, next_.now);
      if (reader_->GoesOn() && next_ns_ < until_ns) SumUntil(until_ns, &meter);
      Read();
    } while (next_ns_ < until_ns);
  }

 private:
  struct Place {
    PhysicalDevice* device = nullptr;
    size_t band = 0;  // in its meter
    DeviceMeter& meter() const { return device->meter; }
  };
  // Behind the change that |meter| was told last, as far as that is nothing but sums.
  void SumUntil(int64_t until_ns, DeviceMeter* meter) {
    const uint64_t left_ns = static_cast<uint64_t>(until_ns) - static_cast<uint64_t>(next_ns_) - 1;
    const uint64_t most_ns = std::min(left_ns, meter->PlainNs(next_ns_));
    if (most_ns == 0) return;
    RunningTimes times{};
    reader_->Sum(most_ns, &next_, &times);
    meter->Change(times, next_.time_ns + offset_ns_, next_.now);
  }
  void Read() { next_ns_ = reader_->Next(&next_) ? next_.time_ns + offset_ns_ : kOpenEnded; }
  Place Of(uint32_t id) {
    return id < by_id_.size() && by_id_[id].device != nullptr ? by_id_[id] : Meet(id);
  }
  [[gnu::noinline]] Place Meet(uint32_t id) {
    if (id >= by_id_.size()) by_id_.resize(size_t{id} + 1);
    PhysicalDevice* const device = See(static_cast<DeviceId>(id));
    return by_id_[id] = {device, device->meter.Use(number_)};
  }
  PhysicalDevice* See(DeviceId id) {
    PhysicalDevice* const device = devices_.Find(process_, id);
    std::vector<size_t>& seen_by = device->usage.seen_by;
    const auto place = std::lower_bound(seen_by.begin(), seen_by.end(), number_);
    if (place == seen_by.end() || *place != number_) seen_by.insert(place, number_);
    return device;
  }

  const size_t number_;  // index into Run::processes
  const ProcessTrace& process_;
  const int64_t offset_ns_;
  DeviceTable& devices_;
  std::vector<Place> by_id_;
  std::optional<DeviceActivity::Reader> reader_;
  DeviceActivity::Change next_;
  int64_t next_ns_ = kOpenEnded;
};

// What few processes do on one device, until it is that of another one or a window ends, in one
// loop.
class SharedStretch {
 public:
  // No more than DeviceMeter::Stretch::kMostBands.
  explicit SharedStretch(std::span<ProcessActivity* const> processes)
      : processes_(processes), meter_(processes.front()->NextMeter()) {
    for (size_t i = 0; i < processes.size(); ++i) {
      one_device_ &= &processes[i]->NextMeter() == &meter_;
      bands_[i] = processes[i]->NextBand();
    }
  }

  // As far as it goes.
  void RunUntil(int64_t until_ns) {
    if (!one_device_) return;
    DeviceMeter::Stretch stretch(meter_);
    if (!stretch.possible()) return;
    until_ns = std::min(until_ns, stretch.until_ns());
    for (;;) {
      if (processes_.size() == 2 && meter_.bands().size() == 2) RunPair(until_ns, &stretch);
      size_t first = 0;
      for (size_t i = 1; i < processes_.size(); ++i) {
        first = processes_[i]->NextTime() < processes_[first]->NextTime() ? i : first;
      }
      ProcessActivity& process = *processes_[first];
      if (process.NextTime() >= until_ns) break;
      stretch.Change(bands_[first], process.NextTime(), process.NextRunning());
      if (!process.Advance()) break;
    }
    meter_.Take(stretch);
  }

 private:
  void RunPair(int64_t until_ns, DeviceMeter::Stretch* stretch) {
    std::array<DeviceMeter::Stretch::Lane, 2> lanes;  // by band
    for (size_t i = 0; i < 2; ++i) lanes[bands_[i]] = processes_[i]->Lane();
    stretch->RunPair({&lanes[0], &lanes[1]}, until_ns);
    for (size_t i = 0; i < 2; ++i) processes_[i]->AdvanceTo(lanes[bands_[i]]);
  }

  const std::span<ProcessActivity* const> processes_;
  DeviceMeter& meter_;
  bool one_device_ = true;
  std::array<size_t, DeviceMeter::Stretch::kMostBands> bands_{};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_PROCESS_ACTIVITY_H_
