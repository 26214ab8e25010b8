// SPDX-License-Identifier: Apache-2.0
//
// The critical path in the text report, as a section. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_PATH_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_PATH_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// " of NAME (pid 7)" where critical path and predictions are about another process than the run's
// root: that was not recorded, or only launches. Else empty.
std::string OwnerText(const Report& report, const TextOptions& options);

// The longest parts, and the others as one row so that rows sum to the span; empty where the run
// was not replayed.
std::string CriticalPathSection(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_PATH_TEXT_H_
