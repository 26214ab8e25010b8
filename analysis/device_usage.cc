// SPDX-License-Identifier: Apache-2.0
//
// Merges what all processes did and hands each change to the meter of its device. No state.
#include "analysis/device_usage.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <utility>

#include "analysis/device_table.h"
#include "analysis/process_activity.h"
#include "analysis/run_sums.h"

namespace gpubound {
namespace {

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
