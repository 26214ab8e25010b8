// SPDX-License-Identifier: Apache-2.0
//
// From a run to its report, as it was recorded: the front door of the engine below the replays
// (run_report.h is the one above them). Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/run_share.h"
#include "analysis/base/status.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Runs the whole pipeline. The only error is an internal one: a partition that does not sum to its
// span, which would be a bug of ours and is never shown as a figure.
Result<Report> BuildReport(const Run& run, const BreakdownOptions& options = {});

// The same in two steps, the first of which needs nothing but one machine at a time: |run| has no
// other. |late|: ranks of which it is asked what they did meanwhile. Errors are those of BuildReport.
Result<ShareOfMachine> ShareOfOneMachine(const Run& run, const BreakdownOptions& options,
                                         std::vector<LateRank> late);
// |run|: with all machines that |share| is of, the facts of its processes and, of their events, the
// collective kernels.
Result<Report> ReportOfShare(const Run& run, RunShare share, const BreakdownOptions& options);
// Whom the report of the same will name late, and when they were.
std::vector<LateRank> LateRanksOf(const Run& run, const RunShare& share,
                                  const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_
