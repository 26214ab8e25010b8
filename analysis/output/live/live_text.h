// SPDX-License-Identifier: Apache-2.0
//
// A glance at a running run as lines of a terminal. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_

#include <string>

#include "analysis/output/live/live_run.h"
#include "analysis/output/text/report_text.h"

namespace gpubound {

// At most |height| lines, none wider than the options say; ends in a newline.
std::string RenderGlance(const LiveGlance& glance, const std::string& run, int height,
                         const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_TEXT_H_
