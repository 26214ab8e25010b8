// SPDX-License-Identifier: Apache-2.0
//
// Merges what all processes did and hands each change to the meter of its device. No state.
#include "analysis/processes/device_usage.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/base/in_parallel.h"
#include "analysis/processes/device_table.h"
#include "analysis/processes/process_activity.h"
#include "analysis/segments/run_sums.h"

namespace gpubound {
namespace {

int64_t SummedUntil(const Run& run) { return run.sums == nullptr ? INT64_MIN : run.sums->until_ns; }

// NVML's samples of one device within a window.
struct Samples {
  int64_t count = 0;
  int64_t percents = 0;
  Interval time{kOpenEnded, kOpenEnded};  // from the first to the last
  int64_t memory_peak_bytes = kNotKnown;
};

Samples SamplesOf(const ProcessTrace& process, const std::string& uuid, const Interval& window,
                  int64_t offset_ns) {
  Samples samples;
  for (const DeviceSample& read : process.utilization) {
    const int64_t time_ns = read.sample.time_ns + offset_ns;
    if (read.uuid != uuid || time_ns < window.begin_ns || time_ns >= window.end_ns) continue;
    samples.memory_peak_bytes = std::max(samples.memory_peak_bytes, read.sample.memory_used_bytes);
    if (read.sample.gpu_percent < 0) continue;
    if (samples.count++ == 0) samples.time.begin_ns = time_ns;
    samples.time.end_ns = time_ns;
    samples.percents += read.sample.gpu_percent;
  }
  return samples;
}

// Every process samples all devices of its host, so that one of them tells all: the one that has
// most. Samples are evenly spaced, so their mean is the mean over time. What was summed up was cut
// where windows may begin and end.
void TakeUtilization(const Run& run, const std::vector<size_t>& processes,
                     const std::vector<int64_t>& offset_ns, const std::vector<Interval>& windows,
                     DeviceUsage* usage) {
  for (const size_t p : processes) {
    const ProcessTrace& process = run.processes[p];
    const ProcessSums* sums = run.sums == nullptr ? nullptr : run.sums->Of(process.identity);
    const auto samples_in = [&](const Interval& window) {
      Samples samples =
          SamplesOf(process, usage->uuid,
                    {std::max(window.begin_ns, SummedUntil(run)), window.end_ns}, offset_ns[p]);
      for (size_t i = 0; sums != nullptr && i < sums->utilization.size(); ++i) {
        const SummedUtilization& summed = sums->utilization[i];
        if (summed.uuid != usage->uuid) continue;
        if (summed.begin_ns < window.begin_ns || summed.begin_ns >= window.end_ns) continue;
        samples.count += summed.samples;
        samples.percents += summed.percents;
        samples.memory_peak_bytes = std::max(samples.memory_peak_bytes, summed.memory_peak_bytes);
      }
      return samples;
    };
    const Samples whole = samples_in(windows.front());
    usage->memory_peak_bytes = std::max(usage->memory_peak_bytes, whole.memory_peak_bytes);
    if (whole.count <= usage->windows.front().nvml_samples) continue;
    // What a replay moved, NVML did not see.
    const bool comparable = run.sums == nullptr && !run.recorded_offsets_ns;
    usage->nvml_sampled_ns = comparable ? whole.time.length() : 0;
    for (size_t w = 0; w < windows.size(); ++w) {
      const Samples samples = samples_in(windows[w]);
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

// All that |processes|, which share devices, do before |until_ns|.
void PassSharing(int64_t until_ns, std::vector<ProcessActivity*> processes) {
  const auto later = [](const ProcessActivity* a, const ProcessActivity* b) {
    return a->NextTime() > b->NextTime();
  };
  const auto is_over = [until_ns](const ProcessActivity* of) { return of->NextTime() >= until_ns; };
  std::erase_if(processes, is_over);
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

// What processes do on devices, as far as a run's sums do not tell it.
class Pass {
 public:
  Pass(const Run& run, const std::vector<size_t>& numbers, const RunActivity& activity,
       const RunUnknown& unknown, const std::vector<int64_t>& offset_ns,
       const std::vector<Interval>& windows)
      : run_(run),
        numbers_(numbers),
        activity_(activity),
        unknown_(unknown),
        offset_ns_(offset_ns),
        windows_(windows) {}

  // All that happens before |until_ns|, on each device in order. |parts|: see MeasureDevices().
  Status Until(int64_t until_ns, size_t parts, DeviceTable* devices) const {
    std::deque<ProcessActivity> processes;
    for (const size_t p : numbers_) {
      processes.emplace_back(run_, p, activity_[p].get(), offset_ns_[p], SummedUntil(run_),
                             devices);
    }
    std::vector<size_t> sharing;  // numbers
    std::vector<ProcessActivity*> sharing_ones;
    for (size_t i = 0; i < processes.size(); ++i) {
      if (processes[i].NextTime() >= until_ns || processes[i].IsAlone()) continue;
      sharing.push_back(numbers_[i]);
      sharing_ones.push_back(&processes[i]);
    }
    const std::vector<int64_t> bounds_ns = BoundsOfParts(sharing, until_ns, parts);
    const std::vector<DeviceTable::Unknown> unknown = devices->UnknownOf(unknown_);
    devices->TakeUnknown(unknown, [&](const PhysicalDevice& device) {
      const bool is_cut = IsUsedByAny(device, sharing);
      return Interval{SummedUntil(run_), is_cut ? bounds_ns.front() : until_ns};
    });
    // What happens to different devices need not be in order.
    for (ProcessActivity& process : processes) {
      if (process.NextTime() < until_ns && process.IsAlone()) process.TakeUntil(until_ns);
    }
    std::deque<DeviceTable> later;
    for (size_t part = 1; part < bounds_ns.size(); ++part) later.emplace_back(windows_);
    ForEachInParallel(bounds_ns.size(), [&](size_t part) {
      if (part == 0) {
        PassSharing(bounds_ns.front(), sharing_ones);
      } else {
        PassPart(sharing, unknown, {bounds_ns[part - 1], bounds_ns[part]}, &later[part - 1]);
      }
    });
    for (size_t part = 1; part < bounds_ns.size(); ++part) {
      devices->EndAt(bounds_ns[part - 1]);
      devices->Append(later[part - 1]);
    }
    for (const size_t p : numbers_) {
      if (activity_[p] != nullptr && activity_[p]->error()) return *activity_[p]->error();
    }
    return Ok{};
  }

 private:
  // Some tenths of a millisecond.
  static constexpr size_t kWorthAPart = size_t{1} << 16;  // words of logs

  // Where parts of the time end in which about as much happens; the last one at |until_ns|.
  std::vector<int64_t> BoundsOfParts(const std::vector<size_t>& sharing, int64_t until_ns,
                                     size_t parts) const {
    size_t words = 0;
    size_t most = 0;
    size_t longest = 0;  // process
    for (const size_t p : sharing) {
      const size_t of_process = activity_[p]->size();
      words += of_process;
      if (of_process <= most) continue;
      longest = p;
      most = of_process;
    }
    if (parts == 0) {
      const size_t processors = std::max(1u, std::thread::hardware_concurrency());
      parts = std::min(processors, words / kWorthAPart);
    }
    std::vector<int64_t> bounds_ns;
    for (size_t part = 1; part < parts && most != 0; ++part) {
      const int64_t at_ns =
          activity_[longest]->TimeBehind(most * part / parts) + offset_ns_[longest];
      const int64_t last_ns = bounds_ns.empty() ? SummedUntil(run_) : bounds_ns.back();
      if (at_ns > last_ns && at_ns < until_ns) bounds_ns.push_back(at_ns);
    }
    bounds_ns.push_back(until_ns);
    return bounds_ns;
  }

  // Of |processes|.
  static bool IsUsedByAny(const PhysicalDevice& device, const std::vector<size_t>& processes) {
    const std::vector<DeviceBand>& bands = device.meter.bands();
    return std::any_of(bands.begin(), bands.end(), [&](const DeviceBand& band) {
      return std::binary_search(processes.begin(), processes.end(), band.process);
    });
  }

  void PassPart(const std::vector<size_t>& sharing,
                const std::vector<DeviceTable::Unknown>& unknown, const Interval& time,
                DeviceTable* devices) const {
    std::deque<ProcessActivity> processes;
    std::vector<ProcessActivity*> all;
    for (const size_t p : sharing) {
      processes.emplace_back(run_, p, activity_[p].get(), offset_ns_[p], time.begin_ns, devices);
      all.push_back(&processes.back());
    }
    devices->TakeUnknown(unknown, [&](const PhysicalDevice& device) {
      return IsUsedByAny(device, sharing) ? time : Interval{};
    });
    PassSharing(time.end_ns, std::move(all));
    devices->EndAt(time.end_ns);
  }

  const Run& run_;
  const std::vector<size_t>& numbers_;  // of the processes in the run
  const RunActivity& activity_;
  const RunUnknown& unknown_;
  const std::vector<int64_t>& offset_ns_;  // by process
  const std::vector<Interval>& windows_;
};

}  // namespace

Result<std::vector<DeviceUsage>> MeasureDevices(const Run& run,
                                                const std::vector<size_t>& processes,
                                                const RunActivity& activity,
                                                const std::vector<int64_t>& offset_ns,
                                                const std::vector<Interval>& windows,
                                                const RunUnknown& unknown, size_t parts) {
  DeviceTable devices(windows);
  const Status resumed = Resume(run, &devices);
  if (!resumed.ok()) return resumed.error();
  const Status passed = Pass(run, processes, activity, unknown, offset_ns, windows)
                            .Until(kOpenEnded, parts, &devices);
  if (!passed.ok()) return passed.error();
  std::vector<DeviceUsage> usages = devices.Finish();
  for (DeviceUsage& usage : usages) {
    for (size_t w = 0; w < windows.size(); ++w) usage.windows[w].time = windows[w];
    TakeUtilization(run, processes, offset_ns, windows, &usage);
  }
  return usages;
}

Result<std::string> SumDevices(const Run& run, const RunActivity& activity,
                               const RunUnknown& unknown, const std::vector<int64_t>& boundaries_ns,
                               int64_t until_ns) {
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
  const std::vector<int64_t> offset_ns(run.processes.size());
  std::vector<size_t> processes(run.processes.size());
  std::iota(processes.begin(), processes.end(), size_t{0});
  const Status passed = Pass(run, processes, activity, unknown, offset_ns, windows)
                            .Until(until_ns, /*parts=*/0, &devices);
  if (!passed.ok()) return passed.error();
  devices.EndAt(until_ns);
  StateArchive archive;
  devices.Visit(archive, until_ns, {});
  return archive.Take();
}

}  // namespace gpubound
