// SPDX-License-Identifier: Apache-2.0
//
// The pipeline for one process: correlator, timeline, sweep, attribution. Processes are independent
// of each other, so calls for different ones may run at the same time. Pure.
#ifndef GPUBOUND_ANALYSIS_PROCESS_REPORT_H_
#define GPUBOUND_ANALYSIS_PROCESS_REPORT_H_

#include "analysis/report.h"
#include "analysis/run.h"
#include "analysis/status.h"

namespace gpubound {

struct ProcessAnalysis {
  ReportProcess report;
  Ledger found{};  // what the analysis counted, beside what the recorder did
};

// Everything of ReportProcess but `parent`. An error is internal: rows that do not sum to the span.
Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process, const ReportOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_REPORT_H_
