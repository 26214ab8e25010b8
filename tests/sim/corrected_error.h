// SPDX-License-Identifier: Apache-2.0
//
// The corrected report of a run, and how far a corrected process is from what it would have been
// without a profiler. Pure.
#ifndef GPUBOUND_TESTS_SIM_CORRECTED_ERROR_H_
#define GPUBOUND_TESTS_SIM_CORRECTED_ERROR_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/corrected_report.h"
#include "analysis/cost_model.h"
#include "analysis/report.h"
#include "analysis/run.h"
#include "analysis/status.h"

namespace gpubound::sim {

// The report of |run| with the values that it would have without |costs|.
inline Result<Report> CorrectedReport(const gpubound::Run& run, const CostModel& costs) {
  ReportOptions options;
  options.costs = costs;
  options.speedups = false;
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
};

inline double RelativeError(int64_t found, int64_t truth) {
  return truth == 0 ? 0 : std::abs(static_cast<double>(found - truth)) / static_cast<double>(truth);
}

inline CorrectedError ErrorOf(const CorrectedProcess& corrected, const ReportProcess& real) {
  CorrectedError error;
  error.total_error = RelativeError(corrected.process.span_ns, real.span_ns);
  error.covered = corrected.span.low <= real.span_ns && real.span_ns <= corrected.span.high;
  for (const ReportOperation& row : real.operations) {
    if (static_cast<double>(row.wall_ns) < kRowMatters * static_cast<double>(real.span_ns)) {
      continue;
    }
    int64_t found = 0;
    for (const ReportOperation& other : corrected.process.operations) {
      if (other.operation == row.operation) found = other.wall_ns;
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
