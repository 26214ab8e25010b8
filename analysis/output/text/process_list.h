// SPDX-License-Identifier: Apache-2.0
//
// The processes of a run as a table; many of one name are one line. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROCESS_LIST_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROCESS_LIST_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Up to so many processes are listed one by one.
inline constexpr size_t kUnfoldedProcesses = 6;

// Empty for a run of fewer than two processes. |unfold|: list each, however many there are.
std::string ProcessList(const Report& report, const TextOptions& options, bool unfold);

// What each process and all that it started used of CPU and memory. Empty where nothing was
// sampled.
std::string ProcessTrees(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROCESS_LIST_H_
