// SPDX-License-Identifier: Apache-2.0
//
// How busy the GPU was, and what nvidia-smi says of it, in a line. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_HEADLINE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_HEADLINE_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// "unknown 8 %", or "unknown <= 8 %".
std::string UnknownText(const ReportUnknown& unknown);

// "nvidia-smi showed 97 %"; where NVML was not asked, what it would have shown at most. What a
// stand-in says of a simulated device is no claim of nvidia-smi's.
std::string SmiText(const ReportRun& run);

// "GPU busy 41 % (peers 24 %), idle 35 %; nvidia-smi showed 97 %."
std::string HeadlineText(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_HEADLINE_H_
