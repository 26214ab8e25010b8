// SPDX-License-Identifier: Apache-2.0
//
// What the text report says in a line where --full has a table. Each is empty where there is
// nothing to say, and ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Shares of the layers in the span of |process|.
std::string LayerSentence(const ReportProcess& process, const TextOptions& options);

// What the program said of itself, begun by an empty line; without --full the begin of that.
std::string MetadataLines(const Report& report, const TextOptions& options);

// What the ledger and the reader have to say, worst first, begun by an empty line; of many entries
// without --full the first, and what the others are called.
std::string LedgerLines(const Report& report, const TextOptions& options);

// Which options show more.
std::string MoreLine(const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OVERVIEW_H_
