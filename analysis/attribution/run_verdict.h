// SPDX-License-Identifier: Apache-2.0
//
// The line that says how far a report can be trusted. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_VERDICT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_VERDICT_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// Of a |report| that has all else: "doubtful: ...", "incomplete: ..." or "complete: ...".
std::string VerdictOf(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_VERDICT_H_
