// SPDX-License-Identifier: Apache-2.0
//
// From a run directory to its report: reads what is sound as a stream, in memory bounded by what
// happens at one time, and falls back to loading everything where files are damaged. Pure but for
// reading.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_RUN_REPORT_H_
#define GPUBOUND_ANALYSIS_CORRECTION_RUN_REPORT_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/correction/report_options.h"
#include "analysis/report/report.h"

namespace gpubound {

// A run and its report. What is in the run may lie in its files still (OpenRun), and is sound then.
struct AnalyzedRun {
  Run run;
  Report report;
};

// |path|: of a run, or of parts of one (analysis/parts). Errors are those of OpenRun and BuildReport,
// or of ReportOfParts.
Result<AnalyzedRun> AnalyzeRun(const std::string& path, const ReportOptions& options = {});
Result<Report> ReportOfRun(const std::string& path, const ReportOptions& options = {});

// For those who ask for no operations: with the ones that a compacted run was summed with, since it
// has no other report.
Result<Report> ReportAsSummed(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_RUN_REPORT_H_
