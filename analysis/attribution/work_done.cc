// SPDX-License-Identifier: Apache-2.0
//
// Counts work between two instants. No state.
#include "analysis/attribution/work_done.h"

#include <optional>
#include <string>

#include "analysis/trace/counter_records.h"
#include "analysis/trace/told_progress.h"

namespace gpubound {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMillion = 1e6;

// Between the begin of |window| and its end, as WorkCounted understands values; absent where they
// are a running total of which nobody knows what it was at the begin.
std::optional<double> DoneIn(const Interval& window, const std::vector<CounterRecord>& records) {
  WorkCounted all;
  for (const CounterRecord& record : records) all.Add({record.time_ns, record.value});
  const bool is_total = all.grows && all.count > 1;
  std::optional<double> before;
  std::optional<double> last;
  double sum = 0;
  for (const CounterRecord& record : records) {
    if (record.time_ns <= window.begin_ns) before = record.value;
    if (record.time_ns <= window.begin_ns || record.time_ns > window.end_ns) continue;
    last = record.value;
    sum += record.value;
  }
  if (!is_total) return sum;
  if (!last) return 0;
  if (!before) return std::nullopt;
  return *last - *before;
}

int64_t TimeIn(const ReportProcess& process, const std::string& operation) {
  for (const ReportIterationOperation& row : process.iterations->operations) {
    if (row.operation == operation) return row.wall_ns;
  }
  return 0;
}

std::optional<double> PerSecond(double done, int64_t ns) {
  if (ns <= 0) return std::nullopt;
  return done * kNsPerSecond / static_cast<double>(ns);
}

}  // namespace

std::vector<ReportWork> WorkDone(const Run& run, const ClockAlignment& clocks, size_t stepping,
                                 const Interval& window, const Report& report) {
  std::vector<ReportWork> rows;
  for (const char* counter : kWorkCounters) {
    ReportWork row;
    bool others = false;
    bool known = true;
    const std::vector<std::vector<CounterRecord>> all =
        ReadCountersOfAll(run, [counter](std::string_view name) { return name == counter; });
    for (size_t p = 0; p < all.size(); ++p) {
      const std::vector<CounterRecord>& records = all[p];
      if (records.empty()) continue;
      const int64_t offset_ns = clocks.offset_ns[p];
      const std::optional<double> done =
          DoneIn({window.begin_ns - offset_ns, window.end_ns - offset_ns}, records);
      known &= done.has_value();
      row.done += done.value_or(0);
      others |= p != stepping && done.value_or(0) > 0;
    }
    if (!known || row.done <= 0) continue;
    row.counter = counter;
    row.ns = window.length();
    row.per_second = PerSecond(row.done, row.ns).value_or(0);
    if (!others) {
      const ReportProcess& process = report.processes[stepping];
      const int64_t simulation_ns = TimeIn(process, "simulation");
      row.per_simulation_second = PerSecond(row.done, simulation_ns);
      const int64_t inference_ns = TimeIn(process, "inference");
      if (simulation_ns > 0 && inference_ns > 0) {
        row.per_simulation_and_inference_second = PerSecond(row.done, simulation_ns + inference_ns);
      }
    }
    if (report.run.devices_used > 0) {
      const double held_s =
          static_cast<double>(report.run.devices_used) * static_cast<double>(row.ns) / kNsPerSecond;
      row.gpu_seconds_per_million = held_s / row.done * kMillion;
      const bool exact = report.run.headline == "iterations" &&
                         !report.run.gpu_busy_is_upper_bound &&
                         !report.run.gpu_busy_is_lower_bound && report.run.unknown.share == 0;
      if (exact) {
        row.gpu_busy_seconds_per_million = *row.gpu_seconds_per_million * report.run.gpu_busy_share;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gpubound
