// SPDX-License-Identifier: Apache-2.0
//
// The time of a run whose events a compaction was free to remove (docs/long_runs.md). Pure
// functions.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_THINNED_TIME_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_THINNED_TIME_H_

#include <cstddef>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/segments/run_sums.h"

namespace gpubound {

// |span| without the detail that stays: the newest, and what was kept of the time before. At the
// edges some events may be left, since whole chunks go. |sums| may be null: then nothing went.
std::vector<Interval> ThinnedTime(const RunSums* sums, const Interval& span);

// |intervals|, disjoint and ascending, in about |most|: neighbours are joined.
std::vector<Interval> JoinedTo(size_t most, const std::vector<Interval>& intervals);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_THINNED_TIME_H_
