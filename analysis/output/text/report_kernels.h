// SPDX-License-Identifier: Apache-2.0
//
// The text report's list of device work, by the operation that caused it. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_KERNELS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_KERNELS_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// A table that begins with an empty line, or nothing where no device work was recorded.
std::string KernelTable(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_KERNELS_H_
