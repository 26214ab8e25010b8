// SPDX-License-Identifier: Apache-2.0
//
// The Python stacks of a report, under their operations: as lines for flame graphs (the format of
// Brendan Gregg's stackcollapse scripts, which flamegraph.pl, inferno and speedscope read), and in
// speedscope's own format (https://www.speedscope.app/file-format-schema.json). Counts are looks.
// Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_STACKS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_STACKS_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// "PROCESS;OPERATION;FUNCTION (FILE:LINE);... LOOKS", a line for each stack.
std::string RenderCollapsed(const Report& report);

// A profile for each process.
std::string RenderSpeedscope(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_STACKS_H_
