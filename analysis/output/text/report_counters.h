// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters by operation, as a table of the text report. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COUNTERS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COUNTERS_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Empty where nothing was sampled; ends in a newline otherwise.
std::string CounterTable(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COUNTERS_H_
