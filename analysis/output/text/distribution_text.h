// SPDX-License-Identifier: Apache-2.0
//
// How the time of operations is spread over many ranks, in a number of lines that does not grow
// with them. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_DISTRIBUTION_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_DISTRIBUTION_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Empty with fewer than eight ranks that ran collectives: each has rows of its own to look at. Ends
// in a newline otherwise.
std::string DistributionSection(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_DISTRIBUTION_TEXT_H_
