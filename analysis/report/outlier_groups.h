// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks whose time in an operation lies apart from that of the others, and what such a group
// has in common: of a thousand ranks nobody compares each. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_OUTLIER_GROUPS_H_
#define GPUBOUND_ANALYSIS_REPORT_OUTLIER_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/rank_times.h"
#include "analysis/report/report.h"

namespace gpubound {

// Medians of the wall time in an operation, over the whole spans; 0 of ranks that never were there.
struct OutlierTime {
  std::string operation;
  int64_t median_ns = 0;
  int64_t others_median_ns = 0;
};

struct OutlierGroup {
  std::vector<size_t> processes;   // into Report::processes, ascending
  std::vector<OutlierTime> times;  // where it lies apart; that which it has most more of first
  // What is true of all of the group and of no other rank.
  std::vector<std::string> hosts;    // it is all ranks of these; empty: it is not
  std::optional<size_t> local_rank;  // it is the ranks of this place, from 0, on each host
  std::string gpu;                   // the model that they run on; empty: they share none
};

inline constexpr size_t kFewestForOutliers = 8;   // ranks; of fewer, one compares each
inline constexpr size_t kMostOutlierGroups = 10;  // those kept

// The others are at least half of the |ranks|, in one stretch of times; of two halves that with the
// first rank. A group is further from them than they are from each other, and than 2 % of the median
// span of the ranks. That which takes longest beyond the others comes first. None of fewer than
// kFewestForOutliers ranks. |ranks| are indices into Report::processes, |times| is TimesOf() them.
std::vector<OutlierGroup> OutlierGroupsOf(const Report& report, const std::vector<size_t>& ranks,
                                          const RowTimes& times);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_OUTLIER_GROUPS_H_
