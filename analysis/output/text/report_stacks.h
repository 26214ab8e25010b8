// SPDX-License-Identifier: Apache-2.0
//
// The Python functions in which an operation's time was seen. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_STACKS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_STACKS_H_

#include <cstddef>
#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// A line for each of the operations that take most of the process's time, and for its start-up, at
// most |most|; none of what too few looks saw.
std::string StackLines(const ReportProcess& process, const TextOptions& options, size_t most);

// The lines that waited for the GPU, as a table. Empty where too few looks saw such a wait.
std::string SyncLineTable(const ReportProcess& process, const TextOptions& options);

// The stacks of each operation as a tree. Empty where none was seen.
std::string StackTables(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_STACKS_H_
