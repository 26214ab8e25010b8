// SPDX-License-Identifier: Apache-2.0
//
// From a run to its report, as it was recorded: the front door of the engine below the replays
// (run_report.h is the one above them). Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/status.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Runs the whole pipeline. The only error is an internal one: a partition that does not sum to its
// span, which would be a bug of ours and is never shown as a figure.
Result<Report> BuildReport(const Run& run, const BreakdownOptions& options = {});

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_BUILD_REPORT_H_
