// SPDX-License-Identifier: Apache-2.0
//
// Lines of the text report on what the program and the recorder said, and on what more there is to
// see. Each is empty where there is nothing to say, and ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// What the program said of itself, begun by an empty line.
std::string MetadataLines(const Report& report, const TextOptions& options);

// What the ledger and the reader have to say, worst first, begun by an empty line; without --full
// not that a device was simulated.
std::string LedgerLines(const Report& report, const TextOptions& options);

// Which options show more.
std::string MoreLine(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_
