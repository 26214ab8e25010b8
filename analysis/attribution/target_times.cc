// SPDX-License-Identifier: Apache-2.0
//
// Joins the records of all processes, and analyses the process of most interest once more, until
// the target. No state but that of the mean.
#include "analysis/attribution/target_times.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "analysis/attribution/process_report.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/counter_records.h"
#include "analysis/trace/memory_source.h"
#include "proto/given_names.h"

namespace gpubound {

std::optional<double> RunningMean::Add(double value) {
  if (values_.size() < length_) {
    values_.push_back(value);
    sum_ += value;
  } else {
    sum_ += value - values_[next_];
    values_[next_] = value;
    next_ = (next_ + 1) % length_;
    // What rounding added up to does not outlast a round.
    if (next_ == 0) sum_ = std::accumulate(values_.begin(), values_.end(), 0.0);
  }
  if (values_.size() < length_) return std::nullopt;
  return sum_ / static_cast<double>(length_);
}

namespace {

struct MetricRecord {
  int64_t time_ns = 0;  // of the reference clock
  double value = 0;
  size_t process = 0;
};

std::vector<MetricRecord> RecordsOf(const Run& run, const ClockAlignment& clocks,
                                    const std::string& metric) {
  std::vector<MetricRecord> records;
  const std::vector<std::vector<CounterRecord>> all =
      ReadCountersOfAll(run, [&metric](std::string_view name) { return name == metric; });
  for (size_t p = 0; p < all.size(); ++p) {
    for (const CounterRecord& record : all[p]) {
      records.push_back({record.time_ns + clocks.offset_ns[p], record.value, p});
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return records;
}

std::string NamesText(const Run& run) {
  std::set<std::string> names;
  for (const ProcessTrace& process : run.processes) {
    for (std::string& name : CounterNames(process)) names.insert(std::move(name));
  }
  names.erase(kOtherNames);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "the program recorded no counter" : "its counters are " + text;
}

// Why the records that are there do not tell; empty: they do.
std::string WhyNot(const Run& run, const Target& target, bool any_record) {
  if (run.sums != nullptr) return "older detail of the run was summed, and its metrics with it";
  if (!run.steps.empty()) return "only iterations " + run.steps + " were recorded";
  if (!any_record) return "nothing recorded '" + target.metric + "'; " + NamesText(run);
  return {};
}

// The breakdown of |process| from its begin until |until_ns|, of its own clock.
Status AddParts(const ProcessTrace& process, int64_t until_ns, const BreakdownOptions& options,
                ReportTarget* target) {
  ProcessTrace cut = process;
  cut.span_end_ns = std::clamp(until_ns, process.span_begin_ns, process.span_end_ns);
  BreakdownOptions breakdown = options;
  breakdown.detail = ReportDetail::kBreakdown;
  const Result<ProcessAnalysis> analysis =
      AnalyzeProcess(cut, *SourceOf(process), breakdown, ProcessContext{});
  if (!analysis.ok()) return analysis.error();
  for (const ReportOperation& row : analysis->report.operations) {
    if (row.other_threads_only || row.wall_ns == 0) continue;
    target->parts.push_back({row.operation, row.wall_ns, row.gpu_busy_ns});
  }
  target->parts_ns = cut.span_end_ns - cut.span_begin_ns;
  target->parts_pid = process.identity.pid;
  return Ok{};
}

Result<ReportTarget> TimeOf(const Target& wanted, const Run& run, const ClockAlignment& clocks,
                            const Interval& span, const BreakdownOptions& options,
                            const Report& report) {
  ReportTarget target;
  target.target = wanted.text;
  target.metric = wanted.metric;
  target.value = wanted.value;
  target.mean_of = wanted.records;
  const std::vector<MetricRecord> records = RecordsOf(run, clocks, wanted.metric);
  target.records = records.size();
  target.why_not = WhyNot(run, wanted, !records.empty());
  RunningMean mean(wanted.records);
  const MetricRecord* reached = nullptr;
  for (const MetricRecord& record : records) {
    const std::optional<double> now = mean.Add(record.value);
    if (!now) continue;
    if (!target.best || wanted.IsBetter(*now, *target.best)) target.best = now;
    if (reached == nullptr && wanted.IsReachedBy(*now)) reached = &record;
  }
  if (!target.why_not.empty() || reached == nullptr) return target;
  target.reached_ns = std::max<int64_t>(0, reached->time_ns - span.begin_ns);
  target.host = run.processes[reached->process].identity.host;
  target.pid = run.processes[reached->process].identity.pid;
  const ReportProcess* const told = ToldProcess(report);
  const auto p = static_cast<size_t>(told - report.processes.data());
  const Status parts =
      AddParts(run.processes[p], reached->time_ns - clocks.offset_ns[p], options, &target);
  if (!parts.ok()) return parts.error();
  return target;
}

}  // namespace

Result<std::vector<ReportTarget>> TargetTimes(const Run& run, const ClockAlignment& clocks,
                                              const Interval& span, const BreakdownOptions& options,
                                              const Report& report) {
  std::vector<ReportTarget> targets;
  for (const Target& wanted : options.targets) {
    Result<ReportTarget> target = TimeOf(wanted, run, clocks, span, options, report);
    if (!target.ok()) return target.error();
    targets.push_back(std::move(*target));
  }
  return targets;
}

}  // namespace gpubound
