// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON, format gpubound.report.v1 (SPEC section 8). Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// Keys in the order of the specification, two spaces of indent, one trailing newline. Bytes that
// are not UTF-8 are replaced by U+FFFD.
std::string RenderJson(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_JSON_H_
