// SPDX-License-Identifier: Apache-2.0
//
// What a process did during given stretches of time, by operation and layer, as in its own cells.
// Reads the source.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_LATE_RANK_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_LATE_RANK_H_

#include <cstddef>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/process_report.h"
#include "analysis/base/interval.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |when|: the process's own time, in any order; where they overlap, time counts once. Longest
// first; sums to what |when| covers of the span. |inherited|: as ProcessContext::left, empty
// where the process has operations of its own.
std::vector<ReportActivity> WhatItDid(const ProcessTrace& process, std::vector<Interval> when,
                                      Heritage inherited, const BreakdownOptions& options);

// A stretch of time, and to which of several answers it counts.
struct TaggedInterval {
  Interval time;
  size_t tag = 0;
};
// The same for |tags| questions at once, whose stretches are ascending and disjoint: by tag.
std::vector<std::vector<ReportActivity>> WhatItDidByTag(const ProcessTrace& process,
                                                        const std::vector<TaggedInterval>& when,
                                                        size_t tags, Heritage inherited,
                                                        const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_LATE_RANK_H_
