// SPDX-License-Identifier: Apache-2.0
//
// Device work by what kind of work it is, as --by category prints it. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CATEGORIES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CATEGORIES_H_

#include <cstdint>
#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

int64_t AllWorkNs(const ReportProcess& process);  // of all categories

// Of |process|, longest first; a sentence where it has no device work.
std::string CategoryTable(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_CATEGORIES_H_
