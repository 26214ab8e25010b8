// SPDX-License-Identifier: Apache-2.0
//
// Gathers samples by what they are of. No state.
#include "analysis/output/page/counter_series.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace gpubound {
namespace {

class Gathering {
 public:
  Gathering(const ProcessTrace& process, int64_t to_run_ns)
      : begin_ns_(process.span_begin_ns), end_ns_(process.span_end_ns), to_run_ns_(to_run_ns) {}

  void Add(const std::string& title, const std::string& unit, int64_t time_ns, double value) {
    if (time_ns < begin_ns_ || time_ns > end_ns_ || !std::isfinite(value)) return;
    const auto [known, is_new] = places_.emplace(title, series_.size());
    if (is_new) series_.push_back({0, title, unit, {}});
    series_[known->second].points.push_back({time_ns + to_run_ns_, value});
  }

  std::vector<CounterSeries> Take() { return std::move(series_); }

 private:
  const int64_t begin_ns_;
  const int64_t end_ns_;
  const int64_t to_run_ns_;
  std::map<std::string, size_t> places_;
  std::vector<CounterSeries> series_;
};

void AddOfProgram(const ProcessTrace& process, const EventSource& source, Gathering* gathering) {
  const bool any = std::any_of(process.labels.begin(), process.labels.end(),
                               [](const Label& l) { return l.kind == LabelKind::kCounter; });
  if (!any) return;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
    for (ThreadBatch batch; cursor->Next(&batch);) {
      for (const ThreadEvent& event : batch.events) {
        if (event.kind != SlotKind::kCounter) continue;
        const std::string& name = process.LabelOf(event.label).text;
        gathering->Add(name, name.ends_with("_bytes") ? "bytes" : "", event.time_ns,
                       std::bit_cast<double>(event.payload));
      }
    }
  }
}

// What NVML does not know is below 0.
void AddOfDevices(const ProcessTrace& process, Gathering* gathering) {
  constexpr double kMilli = 1e-3;
  for (const DeviceSample& sampled : process.utilization) {
    const auto device =
        std::find_if(process.devices.begin(), process.devices.end(),
                     [&sampled](const Device& one) { return one.uuid == sampled.uuid; });
    if (device == process.devices.end()) continue;
    const std::string gpu = "GPU " + std::to_string(device->info.index) + " ";
    const UtilizationSample& sample = sampled.sample;
    const auto add = [&](const char* what, const char* unit, double value) {
      if (value >= 0) gathering->Add(gpu + what, unit, sample.time_ns, value);
    };
    add("nvidia-smi", "%", sample.gpu_percent);
    add("memory", "bytes", static_cast<double>(sample.memory_used_bytes));
    add("power", "W", sample.power_mw < 0 ? sample.power_mw : sample.power_mw * kMilli);
    add("SM clock", "MHz", sample.sm_mhz);
  }
}

}  // namespace

std::vector<CounterPoint> FewerPoints(std::vector<CounterPoint> points, size_t most) {
  if (points.size() <= most) return points;
  const size_t groups = most / 2;
  std::vector<CounterPoint> fewer;
  for (size_t group = 0; group < groups; ++group) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(points.size() * group / groups);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(points.size() * (group + 1) / groups);
    auto [low, high] = std::minmax_element(
        begin, end, [](const CounterPoint& a, const CounterPoint& b) { return a.value < b.value; });
    if (high < low) std::swap(low, high);
    fewer.push_back(*low);
    if (low != high) fewer.push_back(*high);
  }
  return fewer;
}

std::vector<CounterSeries> CountersOf(const ProcessTrace& process, const EventSource& source,
                                      int64_t to_run_ns, size_t most_counters, size_t most_points) {
  Gathering program(process, to_run_ns);
  AddOfProgram(process, source, &program);
  std::vector<CounterSeries> all = program.Take();
  std::sort(all.begin(), all.end(),
            [](const CounterSeries& a, const CounterSeries& b) { return a.title < b.title; });
  Gathering sampled(process, to_run_ns);
  for (const ProcessTreeSample& sample : process.process_tree) {
    sampled.Add("resident memory", "bytes", sample.time_ns,
                static_cast<double>(sample.resident_bytes));
  }
  AddOfDevices(process, &sampled);
  std::vector<CounterSeries> of_samples = sampled.Take();
  std::move(of_samples.begin(), of_samples.end(), std::back_inserter(all));
  if (all.size() > most_counters) all.resize(most_counters);
  for (CounterSeries& series : all) {
    std::stable_sort(
        series.points.begin(), series.points.end(),
        [](const CounterPoint& a, const CounterPoint& b) { return a.time_ns < b.time_ns; });
    series.points = FewerPoints(std::move(series.points), most_points);
  }
  return all;
}

}  // namespace gpubound
