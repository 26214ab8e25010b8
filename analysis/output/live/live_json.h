// SPDX-License-Identifier: Apache-2.0
//
// A glance at a running run for programs. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_JSON_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_JSON_H_

#include <string>

#include "analysis/output/live/live_run.h"

namespace gpubound {

// gpubound.top.v1 (docs/formats.md): one line, which ends in a newline. Arrays of three are of the
// windows.
std::string RenderGlanceJson(const LiveGlance& glance, const std::string& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_JSON_H_
