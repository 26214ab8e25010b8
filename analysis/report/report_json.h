// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON, format gpubound.report.v1 (SPEC section 8). Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// Of more processes than that |processes| of the JSON has but these, unless all are wanted.
inline constexpr size_t kMostJsonProcesses = 64;

// Keys in the order of the specification, two spaces of indent, one trailing newline. Bytes that
// are not UTF-8 are replaced by U+FFFD. |most_processes|: in `processes`; those that other figures
// name come before others, and `processes_left_out` says how many are missing. Where some are, `ranks`,
// `devices` and `operation_devices` have those of the others.
std::string RenderJson(const Report& report, size_t most_processes = SIZE_MAX);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_
