// SPDX-License-Identifier: Apache-2.0
//
// The corrected report of a run, and how far a corrected process is from what it would have been
// without a profiler. Pure.
#ifndef GPUBOUND_TESTS_SIM_CORRECTED_ERROR_H_
#define GPUBOUND_TESTS_SIM_CORRECTED_ERROR_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/estimate.h"
#include "analysis/base/status.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound::sim {

// The report of |run| with the values that it would have without |costs|.
inline Result<Report> CorrectedReport(const gpubound::Run& run, const CostModel& costs) {
  ReportOptions options;
  options.costs = costs;
  options.savings = false;
  Result<Report> report = BuildReport(run, options);
  if (!report.ok()) return report;
  const Status added = AddReplays(run, options, &*report);
  if (!added.ok()) return added.error();
  return report;
}

inline constexpr double kRowMatters = 0.01;  // of the run

struct CorrectedError {
  double total_error = 0;  // of the span, as a part of the true one
  double row_error = 0;    // the worst of the rows that matter
  std::string worst_row;
  bool covered = false;  // the stated interval holds the true span
  double of_half = 0;    // by how much the span is off, as a part of half of that interval
  // The rows that matter, and how often stated intervals hold their wall and their GPU time.
  uint64_t rows = 0;
  uint64_t wall_covered = 0;
  uint64_t busy_covered = 0;
};

// Whether intervals are no wider than they have to be: |of_half| is by how much of its half width
// each is off. Of the normal distribution the interval of 95 % is off by a third of that in the
// median.
inline bool AreTelling(std::vector<double> of_half, double least) {
  return Median(std::move(of_half)) > least;
}

inline bool Holds(const Bounds& bounds, int64_t truth) {
  return bounds.low <= truth && truth <= bounds.high;
}

inline double RelativeError(int64_t found, int64_t truth) {
  return truth == 0 ? 0 : std::abs(static_cast<double>(found - truth)) / static_cast<double>(truth);
}

inline CorrectedError ErrorOf(const CorrectedProcess& corrected, const ReportProcess& real) {
  CorrectedError error;
  error.total_error = RelativeError(corrected.process.span_ns, real.span_ns);
  error.covered = Holds(corrected.span, real.span_ns);
  const double half = static_cast<double>(corrected.span.high - corrected.span.low) / 2;
  if (half > 0) {
    const int64_t off_ns = corrected.process.span_ns - real.span_ns;
    error.of_half = std::abs(static_cast<double>(off_ns)) / half;
  }
  for (const ReportOperation& row : real.operations) {
    if (static_cast<double>(row.wall_ns) < kRowMatters * static_cast<double>(real.span_ns)) {
      continue;
    }
    int64_t found = 0;
    for (size_t i = 0; i < corrected.process.operations.size(); ++i) {
      if (corrected.process.operations[i].operation != row.operation) continue;
      found = corrected.process.operations[i].wall_ns;
      ++error.rows;
      error.wall_covered += Holds(corrected.rows[i].wall, row.wall_ns) ? 1 : 0;
      error.busy_covered += Holds(corrected.rows[i].gpu_busy, row.gpu_busy_ns) ? 1 : 0;
    }
    const double row_error = RelativeError(found, row.wall_ns);
    if (row_error <= error.row_error) continue;
    error.row_error = row_error;
    error.worst_row = row.operation;
  }
  return error;
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_CORRECTED_ERROR_H_
