// SPDX-License-Identifier: Apache-2.0
//
// Unions of the processes' unknown times, for each used device. No state.
#include "analysis/attribution/unknown_time.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/text_table.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

// When, on its own clock, a process ran without being recorded while the run, in |whole|, was. Each
// host begins and ends the iterations that were asked for by itself.
std::vector<Interval> OutsideOf(const ProcessTrace& process, const Interval& whole) {
  std::vector<Interval> times;
  if (process.before_span_ns > 0) {
    times.push_back({std::max(whole.begin_ns, process.BegunNs()), process.span_begin_ns});
  }
  if (process.span_end == SpanEnd::kAsked) times.push_back({process.span_end_ns, whole.end_ns});
  std::erase_if(times, [](const Interval& time) { return time.empty(); });
  return times;
}

// For how long, at most, it is not known what a process did on a device: in its own time of that
// kind another device may have been busy, and nothing is unknown of the two together.
class MostUnknown {
 public:
  explicit MostUnknown(const ReportProcess& process) {
    struct Times {
      int64_t unknown_ns = 0;
      int64_t busy_ns = 0;
    };
    std::map<std::pair<std::string, uint32_t>, Times> by_device;
    for (const ReportDeviceShare& share : process.device_shares) {
      Times& times = by_device[{share.uuid, share.ordinal}];
      times.unknown_ns += share.unknown_ns;
      times.busy_ns += share.busy_ns;
    }
    otherwise_ns_ = by_device.empty() ? process.unknown_ns : INT64_MAX;
    for (const auto& [key, times] : by_device) {
      if (!key.first.empty()) of_uuid_.try_emplace(key.first, times.unknown_ns);
      // All that was unknown is so still, or was busy.
      otherwise_ns_ = std::min(otherwise_ns_, times.unknown_ns + times.busy_ns);
    }
  }
  int64_t On(const DeviceUsage& device) const {
    const auto known = of_uuid_.find(device.uuid);
    return known == of_uuid_.end() ? otherwise_ns_ : known->second;
  }

 private:
  std::unordered_map<std::string, int64_t> of_uuid_;
  int64_t otherwise_ns_ = 0;
};

bool HasSeveralHosts(const Run& run) {
  return std::any_of(run.processes.begin(), run.processes.end(), [&run](const auto& process) {
    return process.identity.host != run.processes.front().identity.host;
  });
}

class UnknownTimes {
 public:
  UnknownTimes(const Run& run, const RunUnknown& unknown, const ClockAlignment& clocks,
               const std::vector<DeviceUsage>& devices, const RunWindows& cut, const Report& report)
      : run_(run),
        unknown_(unknown),
        clocks_(clocks),
        devices_(devices),
        cut_(cut),
        report_(report),
        has_sums_(run.sums != nullptr) {
    for (size_t p = 0; p < run.processes.size(); ++p) {
      most_.emplace_back(report.processes[p]);
      const bool knows_all = unknown[p].times.empty() && unknown[p].outside.empty();
      if (!knows_all || has_sums_) not_all_known_.push_back(p);
    }
  }

  // Of the time of the used devices in window |index| of the cut.
  ReportUnknown In(size_t index) const {
    const Interval& window = cut_.windows[index];
    if (window.empty()) return {};
    if (const std::optional<int64_t> ns = ExactlyIn(index)) {
      return {ShareOf(*ns, window.length()), false};
    }
    int64_t unknown_ns = 0;
    int64_t held_ns = 0;
    bool any = false;
    for (const DeviceUsage& device : devices_) {
      if (!device.used) continue;
      any = true;
      const int64_t length_ns = LengthIn(cut_, index, device);
      held_ns += length_ns;
      const int64_t not_busy_ns = length_ns - device.windows[index].busy_ns;
      unknown_ns += std::clamp<int64_t>(not_busy_ns, 0, LengthOn(device, index));
    }
    if (!any) {
      unknown_ns = LengthOn(nullptr, window);
      return {ShareOf(unknown_ns, window.length()), has_sums_ && unknown_ns > 0};
    }
    return {ShareOf(unknown_ns, held_ns), unknown_ns > 0};
  }

  // Whether a process that sees |device| ran without being recorded.
  bool IsLeftOut(const DeviceUsage& device) const {
    return std::any_of(device.seen_by.begin(), device.seen_by.end(),
                       [this](size_t p) { return !unknown_[p].outside.empty(); });
  }

 private:
  // In which processes' time is unknown that see |device|, in window |index|. What is none of the
  // run's parts may be longer on the clock of the run than on that of the machine.
  int64_t LengthOn(const DeviceUsage& device, size_t index) const {
    Interval window = device.windows[index].time;
    if (device.seen_by.empty()) return 0;
    const int64_t offset_ns = clocks_.offset_ns[device.seen_by.front()];
    window = window.ShiftedBy(offset_ns);
    if (index == 0 || index == cut_.work) {
      const Interval& whole = cut_.windows[index];
      window = {std::min(window.begin_ns, whole.begin_ns), std::max(window.end_ns, whole.end_ns)};
    }
    return std::min(LengthOn(&device, window), LengthIn(cut_, index, device));
  }

  // The same within |window| of the run's clock; of all processes where |device| is null.
  int64_t LengthOn(const DeviceUsage* device, const Interval& window) const {
    std::vector<Interval> all;
    int64_t sum_ns = 0;
    for (const size_t p : not_all_known_) {
      const bool may_use_it = device == nullptr || SeesAnyOn(p, *device) ||
                              std::binary_search(device->seen_by.begin(), device->seen_by.end(), p);
      if (!may_use_it) continue;
      const int64_t offset_ns = clocks_.offset_ns[p];
      const ProcessTrace& process = run_.processes[p];
      const Interval span =
          Interval{process.span_begin_ns, process.span_end_ns}.ShiftedBy(offset_ns);
      // Of what is summed nothing but the length is known, and that it lies in the process's span.
      const int64_t most_ns =
          device == nullptr ? report_.processes[p].unknown_ns : most_[p].On(*device);
      sum_ns += std::min(most_ns, span.ClippedTo(window).length());
      for (const Interval& time : unknown_[p].times) {
        all.push_back(time.ShiftedBy(offset_ns).ClippedTo(window));
      }
      for (const Interval& time : unknown_[p].outside) {
        all.push_back(time.ShiftedBy(offset_ns).ClippedTo(window));
        sum_ns += all.back().length();
      }
    }
    sum_ns = std::min(sum_ns, window.length());
    return has_sums_ ? sum_ns : std::min(sum_ns, UnionLength(std::move(all)));
  }

  // A process that says of no device whether it sees it sees those of its machine.
  bool SeesAnyOn(size_t p, const DeviceUsage& device) const {
    return unknown_[p].sees_any &&
           std::any_of(device.seen_by.begin(), device.seen_by.end(), [&](size_t other) {
             return AreOneMachine(run_.processes[p], run_.processes[other]);
           });
  }

  // Where nobody but the one process with unknown time uses the one device.
  std::optional<int64_t> ExactlyIn(size_t index) const {
    const auto is_used = [](const DeviceUsage& device) { return device.used; };
    if (std::count_if(devices_.begin(), devices_.end(), is_used) != 1) return {};
    const auto has_more = [](const ProcessUnknown& of) { return !of.outside.empty(); };
    if (std::any_of(unknown_.begin(), unknown_.end(), has_more)) return {};
    const auto device = std::find_if(devices_.begin(), devices_.end(), is_used);
    const auto has_some = [](const ReportProcess& process) { return process.unknown_ns > 0; };
    const std::vector<ReportProcess>& processes = report_.processes;
    const auto first = std::find_if(processes.begin(), processes.end(), has_some);
    if (first == processes.end()) return 0;
    const auto p = static_cast<size_t>(first - processes.begin());
    const bool is_alone = std::none_of(first + 1, processes.end(), has_some) &&
                          device->bands.size() == 1 && device->bands.front().process == p;
    if (!is_alone) return {};
    if (index == 0) return first->unknown_ns;
    if (index == cut_.work) return {};
    if (&*first != SteppingProcess(report_)) return {};
    int64_t unknown_ns = 0;
    for (const ReportIterationOperation& row : first->iterations->operations) {
      unknown_ns += row.unknown_ns;
    }
    return unknown_ns;
  }

  const Run& run_;
  const RunUnknown& unknown_;
  const ClockAlignment& clocks_;
  const std::vector<DeviceUsage>& devices_;
  const RunWindows& cut_;
  const Report& report_;
  const bool has_sums_;
  std::vector<MostUnknown> most_;      // by process
  std::vector<size_t> not_all_known_;  // processes with unknown time
};

}  // namespace

RunUnknown UnknownOf(const Run& run, const std::vector<std::vector<Interval>>& pauses,
                     const std::vector<int64_t>& offset_ns) {
  RunUnknown unknown;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    const Interval own{process.span_begin_ns, process.span_end_ns};
    ProcessUnknown& of = unknown.emplace_back();
    of.sees_any = process.devices.empty();
    std::vector<Interval> times = pauses[p];
    for (const UnknownInterval& time : process.unknown) {
      times.push_back({time.start_ns, time.end_ns});
    }
    for (const Interval& time : times) {
      const Interval inside = time.ClippedTo(own);
      if (!inside.empty()) of.times.push_back(inside.ShiftedBy(offset_ns[p]));
    }
  }
  return unknown;
}

void AddUnknownOutside(const Run& run, const ClockAlignment& clocks, const Interval& span,
                       RunUnknown* unknown) {
  if (run.steps.empty() || !HasSeveralHosts(run)) return;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    ProcessUnknown& of = (*unknown)[p];
    if (of.sees_any) continue;
    of.outside = OutsideOf(run.processes[p], span.ShiftedBy(-clocks.offset_ns[p]));
  }
}

void AddUnknownTime(const Run& run, const RunUnknown& unknown, const ClockAlignment& clocks,
                    const std::vector<DeviceUsage>& devices, const RunWindows& cut, size_t headline,
                    Report* report) {
  const UnknownTimes times(run, unknown, clocks, devices, cut, *report);
  report->run.unknown = times.In(headline);
  report->run.whole_unknown = times.In(0);
  if (cut.work != 0) report->run.work_unknown = times.In(cut.work);
  std::vector<std::string>& unused = report->run.devices_unused;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!times.IsLeftOut(devices[i])) continue;
    report->devices[i].has_unknown_time = true;
    const auto told = std::find(unused.begin(), unused.end(), devices[i].name);
    if (!devices[i].used && told != unused.end()) unused.erase(told);
  }
}

}  // namespace gpubound
