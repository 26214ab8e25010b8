// SPDX-License-Identifier: Apache-2.0
//
// Subtracts and joins. No state.
#include "analysis/output/page/thinned_time.h"

#include <algorithm>

namespace gpubound {

std::vector<Interval> ThinnedTime(const RunSums* sums, const Interval& span) {
  std::vector<Interval> thinned;
  if (sums == nullptr) return thinned;
  Interval rest = Interval{span.begin_ns, sums->until_ns}.ClippedTo(span);
  for (const Interval& kept : sums->kept) {
    const Interval before{rest.begin_ns, std::min(kept.begin_ns, rest.end_ns)};
    if (!before.empty()) thinned.push_back(before);
    rest.begin_ns = std::max(rest.begin_ns, kept.end_ns);
  }
  if (!rest.empty()) thinned.push_back(rest);
  return thinned;
}

std::vector<Interval> JoinedTo(size_t most, const std::vector<Interval>& intervals) {
  const size_t group = intervals.size() / std::max<size_t>(most, 1) + 1;
  std::vector<Interval> joined;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (i % group == 0) joined.push_back(intervals[i]);
    joined.back().end_ns = intervals[i].end_ns;
  }
  return joined;
}

}  // namespace gpubound
