// SPDX-License-Identifier: Apache-2.0
//
// Iterations of a run over time, in a bounded number of points: neighbours share a point when there
// are too many. Sums of points are exact. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_ITERATION_SERIES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_ITERATION_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/report/report_iterations.h"

namespace gpubound {

inline constexpr size_t kStacked = 7;  // as STACKED of tools/page/src/iteration_chart.ts

// |count| iterations that follow each other.
struct IterationPoint {
  int64_t first = 0;  // as the program counts
  int64_t last = 0;
  uint64_t count = 0;
  Interval time;
  int64_t shortest_ns = 0;
  int64_t longest_ns = 0;
  int64_t busy_ns = 0;  // some device of the process worked
  // Mean time of the first kStacked of ReportIterations::operations, then of all others, over those
  // of the iterations of which it is known; empty: of none.
  std::vector<int64_t> operation_ns;
};

// All |iterations| in at most |most| points. |offset_ns| is added to each instant.
std::vector<IterationPoint> IterationSeries(const ReportIterations& iterations, int64_t offset_ns,
                                            size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_ITERATION_SERIES_H_
