// SPDX-License-Identifier: Apache-2.0
//
// Reports to compare, and the rows that come of it. Plain values.
#ifndef GPUBOUND_TESTS_ANALYSIS_COMPARED_RUNS_H_
#define GPUBOUND_TESTS_ANALYSIS_COMPARED_RUNS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/output/check/compare.h"

namespace gpubound {

inline constexpr int64_t kMs = 1'000'000;

// A run of |count| iterations of about |simulation_ms| + 10 ms, of which 8 ms are GPU work.
inline Report RunOf(int64_t simulation_ms, size_t count) {
  Report report;
  report.run.wall_ns = 10'000 * kMs;
  report.run.devices_used = 1;
  ReportProcess& process = report.processes.emplace_back();
  process.pid = 100;
  ReportIterations& iterations = process.iterations.emplace();
  iterations.count = count;
  iterations.operations = {{"simulation", 1, 0, 0}, {"update", 1, 1, 0}};
  ReportIterationSeries& series = iterations.series;
  series.operation_wall_ns.resize(2);
  series.operation_busy_ns.resize(2);
  series.idle_ns.emplace_back("simulation", std::vector<int64_t>());
  for (size_t i = 0; i < count; ++i) {
    const int64_t simulation_ns =
        simulation_ms * kMs + static_cast<int64_t>(i * 7919 % 11) * kMs / 10;
    series.iterations.push_back(i);
    iterations.every.push_back(
        {static_cast<int64_t>(i) + 1, 0, simulation_ns + 10 * kMs, 8 * kMs, false});
    series.operation_wall_ns[0].push_back(simulation_ns);
    series.operation_wall_ns[1].push_back(10 * kMs);
    series.operation_busy_ns[0].push_back(0);
    series.operation_busy_ns[1].push_back(8 * kMs);
    series.idle_ns[0].second.push_back(simulation_ns);
  }
  return report;
}

inline Report WithoutADevice() {
  Report report = RunOf(20, 50);
  report.run.devices_used = 0;
  return report;
}

inline Report WithoutIterations(int64_t wall_ms) {
  Report report;
  report.run.wall_ns = wall_ms * kMs;
  ReportProcess& process = report.processes.emplace_back();
  ReportOperation& row = process.operations.emplace_back();
  row.operation = "simulation";
  row.wall_ns = wall_ms * kMs;
  row.device_idle = {{"simulation", wall_ms * kMs}};
  return report;
}

inline RunGroup Group(const std::string& name, std::vector<Report> reports) {
  RunGroup group;
  group.name = name;
  for (size_t i = 0; i < reports.size(); ++i) group.runs.push_back(name + std::to_string(i));
  group.reports = std::move(reports);
  return group;
}

inline const ComparedRow& RowOf(const GroupComparison& comparison, ComparedFigure figure,
                                const std::string& name) {
  static const ComparedRow none;
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure == figure && row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return none;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_ANALYSIS_COMPARED_RUNS_H_
