// SPDX-License-Identifier: Apache-2.0
//
// Unions by one pass over sorted intervals. No state.
#include "analysis/base/interval.h"

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

}  // namespace gpubound
