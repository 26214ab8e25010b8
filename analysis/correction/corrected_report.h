// SPDX-License-Identifier: Apache-2.0
//
// The report of a run as it would have been without the profiler: the replayed run goes through the
// same engine, and every total gets an interval. Pure but for a temporary file.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_CORRECTED_REPORT_H_
#define GPUBOUND_ANALYSIS_CORRECTION_CORRECTED_REPORT_H_

#include "analysis/base/status.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/replay_facts.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What ReportOptions::replays asks for: the values without |options.costs|, as far as the run
// itself does not know them better (in_run_costs.h), beside the recorded ones of |report|, which is
// of |run| with the same options; the critical path; and what parts infinitely fast would buy.
// Errors are those of ReplayRun and BuildReport.
Status AddReplays(const Run& run, const ReportOptions& options, Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_CORRECTED_REPORT_H_
