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

// |count| iterations that follow each other.
struct IterationPoint {
  int64_t first = 0;  // as the program counts
  int64_t last = 0;
  uint64_t count = 0;
  Interval time;
  int64_t shortest_ns = 0;
  int64_t longest_ns = 0;
  int64_t busy_ns = 0;  // some device of the process worked
};

// |iterations| in order of time, in at most |most| points. |offset_ns| is added to each instant.
std::vector<IterationPoint> IterationSeries(const std::vector<ReportIteration>& iterations,
                                            int64_t offset_ns, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_ITERATION_SERIES_H_
