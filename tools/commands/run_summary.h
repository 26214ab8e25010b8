// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound run` says when the program has ended.
#ifndef GPUBOUND_TOOLS_COMMANDS_RUN_SUMMARY_H_
#define GPUBOUND_TOOLS_COMMANDS_RUN_SUMMARY_H_

#include <string>

#include "analysis/correction/report_options.h"
#include "analysis/report/report.h"

namespace gpubound {

// How the summary of the run in |directory| is made. Short runs are replayed as by `gpubound
// report`; longer ones are not, since the user waits for the prompt.
ReportOptions SummaryOptions(const std::string& directory);

// The report and where the run is, on stderr; or the error.
void PrintSummary(const std::string& directory);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_RUN_SUMMARY_H_
