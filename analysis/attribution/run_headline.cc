// SPDX-License-Identifier: Apache-2.0
//
// Shares of devices. No state.
#include "analysis/attribution/run_headline.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

constexpr char kIterations[] = "iterations";
constexpr size_t kNone = ~size_t{0};

// Sum over the used devices.
DeviceTime SumOf(const std::vector<DeviceUsage>& devices, size_t window) {
  DeviceTime sum;
  for (const DeviceUsage& device : devices) {
    if (!device.used) continue;
    const DeviceTime& time = device.windows[window];
    sum.busy_ns += time.busy_ns;
    sum.compute_ns += time.compute_ns;
    sum.comm_ns += time.comm_ns;
    sum.copy_ns += time.copy_ns;
    sum.graph_ns += time.graph_ns;
    sum.smi_model += time.smi_model;
    sum.most_smi_model += time.most_smi_model;
  }
  return sum;
}

// Of devices that nobody is known to have used: what one may have shown.
double MostOf(const std::vector<DeviceUsage>& devices, size_t window) {
  double most = 0;
  for (const DeviceUsage& device : devices) {
    most = std::max(most, device.windows[window].most_smi_model);
  }
  return most;
}

// NVML looks back over a second at most: fewer samples are no statement about a time.
constexpr int64_t kFewSamples = 3;

std::optional<double> NvmlShare(const std::vector<DeviceUsage>& devices, size_t window) {
  double sum = 0;
  int64_t used = 0;
  for (const DeviceUsage& device : devices) {
    if (!device.used) continue;
    const DeviceTime& time = device.windows[window];
    if (device.simulated || time.nvml_samples < kFewSamples) return {};
    sum += time.nvml_utilization().value_or(0);
    ++used;
  }
  return used == 0 ? std::nullopt : std::optional(sum / static_cast<double>(used));
}

ReportDevice DeviceRow(const Run& run, const DeviceUsage& device, int64_t span_ns) {
  ReportDevice row;
  const DeviceTime& whole = device.windows.front();
  row.uuid = device.uuid;
  row.name = device.name;
  row.busy_ns = whole.busy_ns;
  row.busy_is_upper_bound = whole.graph_ns > 0;
  row.span_ns = span_ns;
  // What a stand-in says is no statement of NVML's.
  (device.simulated ? row.simulated_utilization : row.nvml_utilization) = whole.nvml_utilization();
  row.nvml_sampled_ns = device.nvml_sampled_ns;
  if (!device.simulated) {
    if (device.memory_bytes > 0) row.memory_bytes = device.memory_bytes;
    if (device.memory_peak_bytes >= 0) row.memory_peak_bytes = device.memory_peak_bytes;
  }
  row.simulated = device.simulated;
  row.used = device.used;
  row.smi_model = whole.smi_model;
  if (whole.busy_ns > 0) {
    row.inflation = whole.smi_model * static_cast<double>(whole.time.length()) /
                    static_cast<double>(whole.busy_ns);
  }
  for (const DeviceBand& band : device.bands) {
    const ProcessTrace& process = run.processes[band.process];
    row.processes.push_back({process.identity.host, process.identity.pid, process.name,
                             band.alone_ns, band.contended_ns});
  }
  return row;
}

// Device time in window |index|, busy or not.
int64_t HeldIn(const std::vector<DeviceUsage>& devices, const RunWindows& cut, size_t index) {
  int64_t held_ns = 0;
  for (const DeviceUsage& device : devices) {
    if (device.used) held_ns += LengthIn(cut, index, device);
  }
  return held_ns;
}

}  // namespace

Interval WorkTime(const std::vector<size_t>& processes, const RunActivity& activity,
                  const std::vector<int64_t>& offset_ns) {
  Interval work{INT64_MAX, INT64_MIN};
  for (const size_t p : processes) {
    if (activity[p] == nullptr || activity[p]->size() == 0) continue;
    DeviceActivity::Reader reader(*activity[p]);
    DeviceActivity::Change change;
    while (change.now == 0 && reader.Next(&change)) continue;
    if (change.now == 0) continue;
    const int64_t end_ns = activity[p]->TimeBehind(activity[p]->size());
    work.begin_ns = std::min(work.begin_ns, change.time_ns + offset_ns[p]);
    work.end_ns = std::max(work.end_ns, end_ns + offset_ns[p]);
  }
  return work;
}

RunWindows CutRun(const Interval& span, const Steps* stepping, int64_t offset_ns,
                  const Interval& work) {
  RunWindows cut;
  cut.windows.push_back(span);
  if (stepping != nullptr && stepping->warm_up) {
    const Interval warm_up = stepping->warm_up->ShiftedBy(offset_ns).ClippedTo(span);
    Interval steady{warm_up.end_ns, warm_up.end_ns};
    if (stepping->steady > 0) {
      steady.end_ns = stepping->steady_end_ns + offset_ns;
      steady = steady.ClippedTo(span);
    }
    const std::pair<const char*, Interval> parts[] = {
        {"start-up", {span.begin_ns, warm_up.begin_ns}},
        {"warm-up", warm_up},
        {kIterations, steady},
        {"shutdown", {steady.end_ns, span.end_ns}}};
    for (const auto& [name, window] : parts) {
      if (window.empty()) continue;
      cut.windows.push_back(window);
      cut.parts.emplace_back(name);
    }
  }
  const Interval inside = work.begin_ns < work.end_ns ? work.ClippedTo(span) : Interval{0, 0};
  if (inside.empty()) return cut;
  cut.work = cut.windows.size();
  cut.windows.push_back(inside);
  return cut;
}

int64_t LengthIn(const RunWindows& cut, size_t index, const DeviceUsage& device) {
  const int64_t own_ns = device.windows[index].time.length();
  const bool is_part = index != 0 && index != cut.work;
  return is_part ? own_ns : std::max(own_ns, cut.windows[index].length());
}

size_t HeadlineOf(const RunWindows& cut, ReportWindow wanted) {
  if (wanted == ReportWindow::kWork) return cut.work;
  const auto steady = std::find(cut.parts.begin(), cut.parts.end(), kIterations);
  if (wanted == ReportWindow::kWhole || steady == cut.parts.end()) return 0;
  return static_cast<size_t>(steady - cut.parts.begin()) + 1;
}

std::vector<DeviceUsage> DevicesOf(const RunWindows& cut,
                                   const std::vector<MachineShare>& machines) {
  std::vector<DeviceUsage> devices;
  for (const MachineShare& machine : machines) {
    const RunWindows& own = machine.cut;
    std::vector<size_t> places;  // in the machine's windows, of those of the run
    for (const std::string& part : cut.parts) {
      const auto same = std::find(own.parts.begin(), own.parts.end(), part);
      const bool all = own.parts.empty() && part == kIterations;
      places.push_back(all ? 0
                       : same == own.parts.end()
                           ? kNone
                           : 1 + static_cast<size_t>(same - own.parts.begin()));
    }
    if (cut.work != 0) places.push_back(own.work != 0 ? own.work : kNone);
    for (const DeviceUsage& device : machine.devices) {
      DeviceUsage& usage = devices.emplace_back(device);
      usage.windows.resize(1);
      for (const size_t place : places) {
        usage.windows.push_back(place == kNone ? DeviceTime() : device.windows[place]);
      }
    }
  }
  return devices;
}

void AddDevices(const Run& run, const std::vector<DeviceUsage>& devices, const RunWindows& cut,
                size_t headline_index, Report* report) {
  ReportRun& summary = report->run;
  const int64_t span_ns = cut.windows.front().length();
  summary.wall_ns = span_ns;
  summary.headline = headline_index == 0          ? "span"
                     : headline_index == cut.work ? "work"
                                                  : kIterations;
  summary.headline_ns = cut.windows[headline_index].length();
  summary.gpu_busy_is_lower_bound = !run.lost.empty();
  for (const DeviceUsage& device : devices) {
    ReportDevice& row =
        report->devices.emplace_back(DeviceRow(run, device, LengthIn(cut, 0, device)));
    row.has_unknown_time =
        std::any_of(device.seen_by.begin(), device.seen_by.end(),
                    [report](size_t p) { return report->processes[p].unknown_ns > 0; });
    row.busy_is_lower_bound = !run.lost.empty();
    if (device.used) {
      ++summary.devices_used;
    } else if (!row.has_unknown_time && run.lost.empty()) {
      summary.devices_unused.push_back(device.name);
    }
  }
  for (size_t window = 1; window <= cut.parts.size(); ++window) {
    const DeviceTime time = SumOf(devices, window);
    summary.parts.push_back({cut.parts[window - 1], cut.windows[window].length(), time.busy_ns,
                             time.compute_ns, time.comm_ns, time.copy_ns, time.graph_ns > 0});
  }
  const auto used = static_cast<double>(summary.devices_used);
  const auto share = [](int64_t part_ns, int64_t whole_ns) {
    return whole_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
  };
  const DeviceTime headline = SumOf(devices, headline_index);
  const int64_t held_ns = HeldIn(devices, cut, headline_index);
  summary.gpu_busy_share = share(headline.busy_ns, held_ns);
  summary.compute_share = share(headline.compute_ns, held_ns);
  summary.comm_share = share(headline.comm_ns, held_ns);
  summary.copy_share = share(headline.copy_ns, held_ns);
  summary.smi_model = used > 0 ? headline.smi_model / used : 0;
  summary.most_smi_model =
      used > 0 ? headline.most_smi_model / used : MostOf(devices, headline_index);
  summary.nvml_utilization = NvmlShare(devices, headline_index);
  summary.gpu_busy_is_upper_bound = headline.graph_ns > 0;
  const DeviceTime whole = SumOf(devices, 0);
  summary.whole_gpu_busy_share = share(whole.busy_ns, HeldIn(devices, cut, 0));
  summary.whole_gpu_busy_is_upper_bound = whole.graph_ns > 0;
  if (cut.work == 0) return;
  summary.work_ns = cut.windows[cut.work].length();
  summary.work_gpu_busy_share =
      share(SumOf(devices, cut.work).busy_ns, HeldIn(devices, cut, cut.work));
}

}  // namespace gpubound
