// SPDX-License-Identifier: Apache-2.0
//
// What a program that reads one report needs of it: verdict, evidence, action, saving, the largest
// rows and what to ask next. Format gpubound.summary.v1 (docs/agents.md). Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_SUMMARY_JSON_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_SUMMARY_JSON_H_

#include <cstddef>
#include <string>

#include "analysis/report/report.h"

namespace gpubound {

inline constexpr size_t kMostSummaryBytes = 4096;

// At most kMostSummaryBytes: of what is more the least important is left out, and long names are
// cut. Fields are added to this format, never renamed.
std::string RenderSummaryJson(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_SUMMARY_JSON_H_
