// SPDX-License-Identifier: Apache-2.0
//
// Groups. No state.
#include "analysis/output/page/iteration_series.h"

#include <algorithm>

namespace gpubound {
namespace {

// |group| iterations make a point.
void AddOperations(const ReportIterationSeries& series, size_t group,
                   std::vector<IterationPoint>* points) {
  const size_t operations = std::min(series.operation_wall_ns.size(), kStacked + 1);
  std::vector<int64_t> sampled(points->size());
  for (size_t i = 0; i < series.iterations.size(); ++i) {
    const size_t at = series.iterations[i] / group;
    ++sampled[at];
    std::vector<int64_t>& sums = (*points)[at].operation_ns;
    sums.resize(operations);
    for (size_t row = 0; row < series.operation_wall_ns.size(); ++row) {
      sums[std::min(row, kStacked)] += series.operation_wall_ns[row][i];
    }
  }
  for (size_t at = 0; at < points->size(); ++at) {
    for (int64_t& ns : (*points)[at].operation_ns) ns /= sampled[at];
  }
}

}  // namespace

std::vector<IterationPoint> IterationSeries(const ReportIterations& all, int64_t offset_ns,
                                            size_t most) {
  const std::vector<ReportIteration>& iterations = all.every;
  const size_t count = iterations.size();
  const size_t group = count == 0 ? 1 : (count - 1) / std::max<size_t>(most, 1) + 1;
  std::vector<IterationPoint> points;
  for (size_t i = 0; i < count; ++i) {
    const ReportIteration& iteration = iterations[i];
    const int64_t begin_ns = iteration.begin_ns + offset_ns;
    if (i % group == 0) {
      points.push_back(
          {iteration.number, 0, 0, {begin_ns, begin_ns}, iteration.ns, iteration.ns, 0, {}});
    }
    IterationPoint& point = points.back();
    ++point.count;
    point.last = iteration.number;
    point.time.end_ns = begin_ns + iteration.ns;
    point.shortest_ns = std::min(point.shortest_ns, iteration.ns);
    point.longest_ns = std::max(point.longest_ns, iteration.ns);
    point.busy_ns += iteration.gpu_busy_ns;
  }
  AddOperations(all.series, group, &points);
  return points;
}

}  // namespace gpubound
