// SPDX-License-Identifier: Apache-2.0
//
// The first screen of a report: what limits the run, what to do, what that would bring, and the mean
// iteration by operation; at most 27 lines of 80 columns. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SCREEN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SCREEN_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// The failure of the program if there was one, then what limits it. |with_action|: and what to do
// about it, and what that would bring.
std::string VerdictLines(const Report& report, const TextOptions& options, bool with_action);

// How long the GPU was idle, and why; empty where it was not, or that is not known.
std::string IdleLine(const Report& report, const TextOptions& options);

// What the screen says, as GitHub's Markdown without bars and colour, for a pull request.
std::string RenderMarkdown(const Report& report);

std::string RenderScreen(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SCREEN_H_
