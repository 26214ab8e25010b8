// SPDX-License-Identifier: Apache-2.0
//
// What the processes that others wait for did meanwhile, so that a report can say "waiting for
// simulation in 8 workers". Reads the sources.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_AWAITED_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_AWAITED_H_

#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/processes/known_waits.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// ReportProcess::awaited of each process of |run|, by |waits| of all of them. Looked at are waits
// under an operation of the waiting process's own, and all waits of |root|, the number of the root. A
// process without operations did what it inherited from them.
std::vector<std::vector<ReportAwaited>> ExplainWaits(const Run& run, const KnownWaits& waits,
                                                     size_t root, const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_AWAITED_H_
