// SPDX-License-Identifier: Apache-2.0
//
// The first half of every command that reads a run: find it, read it, run the pipeline.
#ifndef GPUBOUND_TOOLS_COMMANDS_LOAD_REPORT_H_
#define GPUBOUND_TOOLS_COMMANDS_LOAD_REPORT_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/report/report.h"

namespace gpubound {

// Reports on the run at |path|; on the newest one in the current directory, named on stderr, where
// |path| is empty. Says on a terminal what it is doing if that takes long.
Result<Report> LoadReport(const std::string& path, const ReportOptions& options = {});

// The same with the run, for outputs that show single events.
Result<AnalyzedRun> LoadRunAndReport(const std::string& path, const ReportOptions& options = {});

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_LOAD_REPORT_H_
