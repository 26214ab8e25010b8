// SPDX-License-Identifier: Apache-2.0
//
// Predictions for a terminal. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_WHAT_IF_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_WHAT_IF_TEXT_H_

#include <string>

#include "analysis/report/what_if_result.h"

namespace gpubound {

std::string RenderWhatIfText(const WhatIfReport& report, int width, bool unicode);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_WHAT_IF_TEXT_H_
