// SPDX-License-Identifier: Apache-2.0
//
// A glance at a running run as lines of a terminal. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_

#include <string>

#include "analysis/output/live/live_run.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// At most |height| lines, none wider than the options say; ends in a newline. |so_far|: the report
// of what was recorded until lately, whose verdict it says too; null: there is none.
std::string RenderGlance(const LiveGlance& glance, const std::string& run, int height,
                         const TextOptions& options, const Report* so_far = nullptr);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_
