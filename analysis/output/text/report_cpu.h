// SPDX-License-Identifier: Apache-2.0
//
// Where the threads of a process were: on a CPU, ready without one, or blocked. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CPU_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CPU_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// A row for each operation of each thread that has one, and a sentence about those that had no core
// to run on. Empty where nothing is known.
std::string CpuTable(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CPU_H_
