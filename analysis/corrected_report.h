// SPDX-License-Identifier: Apache-2.0
//
// The report of a run as it would have been without the profiler: the replayed run goes through the
// same engine, and every total gets an interval. Pure but for a temporary file.
#ifndef GPUBOUND_ANALYSIS_CORRECTED_REPORT_H_
#define GPUBOUND_ANALYSIS_CORRECTED_REPORT_H_

#include "analysis/cost_model.h"
#include "analysis/replay_facts.h"
#include "analysis/report.h"
#include "analysis/run.h"
#include "analysis/status.h"

namespace gpubound {

// Replays |run| without |costs|, as far as the run itself does not know them better
// (in_run_costs.h), and puts the result beside the recorded values of |report|, which
// is of |run| with the same options. Errors are those of ReplayRun and BuildReport.
Status AddCorrected(const Run& run, const CostModel& costs, const ReportOptions& options,
                    Report* report);

// What ReportOptions::replays asks for: the corrected values, the critical path and what parts
// infinitely fast would buy.
Status AddReplays(const Run& run, const ReportOptions& options, Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTED_REPORT_H_
