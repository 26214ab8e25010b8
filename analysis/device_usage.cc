// SPDX-License-Identifier: Apache-2.0
//
// Merges what all processes did and hands each change to the meter of its device. No state.
#include "analysis/device_usage.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/device_meter.h"
#include "analysis/run_sums.h"

namespace gpubound {
namespace {

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
    for (PhysicalDevice& known : devices_) {
      const bool same = device.uuid.empty() ? known.usage.uuid.empty() && known.host == host &&
                                                  known.ordinal == device.info.index
                                            : known.usage.uuid == device.uuid;
      if (same) return &known;
    }
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

  void MoveTo(int64_t now_ns) {
    for (PhysicalDevice& device : devices_) device.meter.MoveTo(now_ns);
  }

  std::vector<DeviceUsage> Finish() {
    std::sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.host, a.ordinal, a.usage.uuid) < std::tie(b.host, b.ordinal, b.usage.uuid);
    });
    std::vector<DeviceUsage> usages;
    for (PhysicalDevice& device : devices_) {
      device.meter.MoveToEnd();
      device.usage.windows = device.meter.Times();
      device.usage.bands = device.meter.bands();
      std::sort(device.usage.bands.begin(), device.usage.bands.end(),
                [](const auto& a, const auto& b) { return a.process < b.process; });
      usages.push_back(std::move(device.usage));
    }
    return usages;
  }

 private:
  const std::vector<Interval>& windows_;
  std::deque<PhysicalDevice> devices_;
};

// What one process did, in the time of the reference host.
class ProcessActivity {
 public:
  // |from_ns|: of what was before it, the sums tell.
  ProcessActivity(const Run& run, size_t number, const DeviceActivity* activity, int64_t offset_ns,
                  int64_t from_ns, DeviceTable* devices)
      : number_(number),
        process_(run.processes[number]),
        offset_ns_(offset_ns),
        devices_(*devices) {
    for (uint32_t id = 1; id < process_.devices.size(); ++id) {
      const Device& device = process_.devices[id];
      if (device.name.empty() && device.uuid.empty() && device.info.multiprocessors == 0) continue;
      See(static_cast<DeviceId>(id))->usage.simulated |= device.info.simulated;
    }
    if (activity == nullptr) return;
    for (const uint32_t device : activity->used()) {
      Of(device).device->usage.used = true;
    }
    for (const auto& [device, now] : activity->at_begin()) {
      Of(device).meter().Change(Of(device).band, from_ns, now);
    }
    reader_.emplace(*activity);
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
  // Goes on to the one behind that, if it is at hand and of the same device.
  bool Advance() {
    if (!reader_->NextOfDevice(&next_)) return false;
    next_ns_ = next_.time_ns + offset_ns_;
    return true;
  }
  void AdvanceSlowPath() { Read(); }
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

int64_t SummedUntil(const Run& run) { return run.sums == nullptr ? INT64_MIN : run.sums->until_ns; }

// NVML's samples of one device within a window.
struct Samples {
  int64_t count = 0;
  int64_t percents = 0;
  Interval time{kOpenEnded, kOpenEnded};  // from the first to the last
};

Samples SamplesOf(const ProcessTrace& process, const std::string& uuid, const Interval& window,
                  int64_t offset_ns) {
  Samples samples;
  for (const DeviceSample& read : process.utilization) {
    const int64_t time_ns = read.sample.time_ns + offset_ns;
    if (read.uuid != uuid || read.sample.gpu_percent < 0) continue;
    if (time_ns < window.begin_ns || time_ns >= window.end_ns) continue;
    if (samples.count++ == 0) samples.time.begin_ns = time_ns;
    samples.time.end_ns = time_ns;
    samples.percents += read.sample.gpu_percent;
  }
  return samples;
}

// Every process samples all devices of its host, so that one of them tells all: the one that has
// most. Samples are evenly spaced, so their mean is the mean over time. What was summed up is of
// the first window.
void TakeUtilization(const Run& run, const ClockAlignment& clocks,
                     const std::vector<Interval>& windows, DeviceUsage* usage) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    const auto samples_in = [&](const Interval& window) {
      return SamplesOf(process, usage->uuid,
                       {std::max(window.begin_ns, SummedUntil(run)), window.end_ns},
                       clocks.offset_ns[p]);
    };
    Samples whole = samples_in(windows.front());
    const int64_t sampled_ns = whole.count == 0 ? 0 : whole.time.length();
    const ProcessSums* sums = run.sums == nullptr ? nullptr : run.sums->Of(process.identity);
    for (size_t i = 0; sums != nullptr && i < sums->utilization.size(); ++i) {
      if (sums->utilization[i].uuid != usage->uuid) continue;
      whole.count += sums->utilization[i].samples;
      whole.percents += sums->utilization[i].percents;
    }
    if (whole.count <= usage->windows.front().nvml_samples) continue;
    // What a replay moved, NVML did not see.
    const bool comparable = run.sums == nullptr && !run.recorded_offsets_ns;
    usage->nvml_sampled_ns = comparable ? sampled_ns : 0;
    for (size_t w = 0; w < windows.size(); ++w) {
      const Samples samples = w == 0 ? whole : samples_in(windows[w]);
      usage->windows[w].nvml_samples = samples.count;
      usage->windows[w].nvml_percents = samples.percents;
    }
  }
}

// The numbers that processes of the sums have in the run.
std::vector<size_t> NumbersIn(const Run& run) {
  std::vector<size_t> numbers;
  for (const ProcessSums& sums : run.sums->processes) {
    size_t p = 0;
    while (p < run.processes.size() && run.processes[p].identity != sums.identity) ++p;
    numbers.push_back(p);
  }
  return numbers;
}

Status Resume(const Run& run, DeviceTable* devices) {
  if (run.sums == nullptr) return Ok{};
  const std::vector<size_t> numbers = NumbersIn(run);
  if (std::find(numbers.begin(), numbers.end(), run.processes.size()) != numbers.end()) {
    return Error{"summing device time", run.path, "a process in the sums that has no file",
                 "the last segment of each process", "Put back the file that was removed."};
  }
  StateArchive archive(run.sums->devices);
  devices->Visit(archive, run.sums->until_ns, numbers);
  if (archive.done()) return Ok{};
  return Error{"summing device time by parts of the run", run.path,
               "parts that begin or end where the sums were not cut",
               "those that held when the run was summed",
               "The time of devices is shown for the whole run only."};
}

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
      size_t first = 0;
      for (size_t i = 1; i < processes_.size(); ++i) {
        first = processes_[i]->NextTime() < processes_[first]->NextTime() ? i : first;
      }
      ProcessActivity& process = *processes_[first];
      if (process.NextTime() >= until_ns) break;
      stretch.Change(bands_[first], process.NextTime(), process.NextRunning());
      if (process.Advance()) continue;
      process.AdvanceSlowPath();
      break;
    }
    meter_.Take(stretch);
  }

 private:
  const std::span<ProcessActivity* const> processes_;
  DeviceMeter& meter_;
  bool one_device_ = true;
  std::array<size_t, DeviceMeter::Stretch::kMostBands> bands_{};
};

// The same of processes that share devices, each of which has a change before |until_ns|.
void PassSharing(int64_t until_ns, std::vector<ProcessActivity*> processes) {
  const auto later = [](const ProcessActivity* a, const ProcessActivity* b) {
    return a->NextTime() > b->NextTime();
  };
  const auto is_over = [until_ns](const ProcessActivity* of) { return of->NextTime() >= until_ns; };
  std::make_heap(processes.begin(), processes.end(), later);
  while (!processes.empty()) {
    std::pop_heap(processes.begin(), processes.end(), later);
    ProcessActivity* const next = processes.back();
    processes.pop_back();
    next->TakeUntil(processes.empty() ? until_ns : processes.front()->NextTime());
    if (!is_over(next)) {
      processes.push_back(next);
      std::push_heap(processes.begin(), processes.end(), later);
    }
    if (processes.size() < 2 || processes.size() > DeviceMeter::Stretch::kMostBands) continue;
    SharedStretch(processes).RunUntil(until_ns);
    std::erase_if(processes, is_over);
    std::make_heap(processes.begin(), processes.end(), later);
  }
}

// All that happened before |until_ns|, on each device in order.
Status Pass(const Run& run, const RunActivity& activity, const std::vector<int64_t>& offset_ns,
            int64_t until_ns, DeviceTable* devices) {
  std::deque<ProcessActivity> processes;
  std::vector<ProcessActivity*> sharing;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    processes.emplace_back(run, p, activity[p].get(), offset_ns[p], SummedUntil(run), devices);
  }
  for (size_t p = 0; p < processes.size(); ++p) {
    if (processes[p].NextTime() >= until_ns) continue;
    // What happens to different devices need not be in order.
    if (processes[p].IsAlone()) {
      processes[p].TakeUntil(until_ns);
    } else {
      sharing.push_back(&processes[p]);
    }
  }
  PassSharing(until_ns, std::move(sharing));
  for (const std::shared_ptr<const DeviceActivity>& of : activity) {
    if (of != nullptr && of->error()) return *of->error();
  }
  return Ok{};
}

}  // namespace

Result<std::vector<DeviceUsage>> MeasureDevices(const Run& run, const RunActivity& activity,
                                                const ClockAlignment& clocks,
                                                const std::vector<Interval>& windows) {
  DeviceTable devices(windows);
  const Status resumed = Resume(run, &devices);
  if (!resumed.ok()) return resumed.error();
  const Status passed = Pass(run, activity, clocks.offset_ns, kOpenEnded, &devices);
  if (!passed.ok()) return passed.error();
  std::vector<DeviceUsage> usages = devices.Finish();
  for (DeviceUsage& usage : usages) {
    TakeUtilization(run, clocks, windows, &usage);
  }
  return usages;
}

Result<std::string> SumDevices(const Run& run, const RunActivity& activity,
                               const std::vector<int64_t>& boundaries_ns, int64_t until_ns) {
  std::vector<Interval> windows;
  for (size_t i = 0; i < boundaries_ns.size(); ++i) {
    windows.push_back({boundaries_ns[i], kOpenEnded});
    for (size_t k = i + 1; k < boundaries_ns.size(); ++k) {
      windows.push_back({boundaries_ns[i], boundaries_ns[k]});
    }
  }
  DeviceTable devices(windows);
  const Status resumed = Resume(run, &devices);
  if (!resumed.ok()) return resumed.error();
  const Status passed =
      Pass(run, activity, std::vector<int64_t>(run.processes.size()), until_ns, &devices);
  if (!passed.ok()) return passed.error();
  devices.MoveTo(until_ns);
  StateArchive archive;
  devices.Visit(archive, until_ns, {});
  return archive.Take();
}

}  // namespace gpubound
