// SPDX-License-Identifier: Apache-2.0
//
// Union and exact overlap of intervals by a linear sweep over sorted edges. No state.
#include "analysis/interval.h"

namespace gpubound {

std::vector<Interval> Union(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.empty(); });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  std::vector<Interval> joined;
  for (const Interval& next : intervals) {
    if (!joined.empty() && next.begin_ns <= joined.back().end_ns) {
      joined.back().end_ns = std::max(joined.back().end_ns, next.end_ns);
    } else {
      joined.push_back(next);
    }
  }
  return joined;
}

int64_t UnionLength(std::vector<Interval> intervals) {
  int64_t sum = 0;
  for (const Interval& interval : Union(std::move(intervals))) sum += interval.length();
  return sum;
}

OverlapByMask OverlapOfSets(const std::vector<std::vector<Interval>>& categories,
                            const Interval& frame) {
  struct Edge {
    int64_t time_ns;
    int category;
    bool enters;
  };
  std::vector<Edge> edges;
  for (size_t category = 0; category < categories.size(); ++category) {
    for (const Interval& interval : categories[category]) {
      const Interval clipped = interval.ClippedTo(frame);
      if (clipped.empty()) continue;
      edges.push_back({clipped.begin_ns, static_cast<int>(category), true});
      edges.push_back({clipped.end_ns, static_cast<int>(category), false});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });

  OverlapByMask overlap{};
  ActiveSet active;
  int64_t now_ns = frame.begin_ns;
  for (const Edge& edge : edges) {
    overlap[active.mask()] += edge.time_ns - now_ns;
    now_ns = edge.time_ns;
    // Edges of one instant may come in any order: no time passes between them, and a count that
    // is briefly below zero is back where it belongs before the next instant.
    if (edge.enters) {
      active.Enter(edge.category);
    } else {
      active.Leave(edge.category);
    }
  }
  if (frame.end_ns > now_ns) overlap[active.mask()] += frame.end_ns - now_ns;
  return overlap;
}

}  // namespace gpubound
