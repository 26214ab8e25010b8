// SPDX-License-Identifier: Apache-2.0
//
// Groups. No state.
#include "analysis/output/page/iteration_series.h"

#include <algorithm>

namespace gpubound {

std::vector<IterationPoint> IterationSeries(const std::vector<ReportIteration>& iterations,
                                            int64_t offset_ns, size_t most) {
  const size_t count = iterations.size();
  const size_t group = count == 0 ? 1 : (count - 1) / std::max<size_t>(most, 1) + 1;
  std::vector<IterationPoint> points;
  for (size_t i = 0; i < count; ++i) {
    const ReportIteration& iteration = iterations[i];
    const int64_t begin_ns = iteration.begin_ns + offset_ns;
    if (i % group == 0) {
      points.push_back(
          {iteration.number, 0, 0, {begin_ns, begin_ns}, iteration.ns, iteration.ns, 0});
    }
    IterationPoint& point = points.back();
    ++point.count;
    point.last = iteration.number;
    point.time.end_ns = begin_ns + iteration.ns;
    point.shortest_ns = std::min(point.shortest_ns, iteration.ns);
    point.longest_ns = std::max(point.longest_ns, iteration.ns);
    point.busy_ns += iteration.gpu_busy_ns;
  }
  return points;
}

}  // namespace gpubound
