// SPDX-License-Identifier: Apache-2.0
//
// What the report page is given, as JSON, format gpubound.page.v1 (docs/report.md). Pure.
#ifndef GPUBOUND_ANALYSIS_PAGE_JSON_H_
#define GPUBOUND_ANALYSIS_PAGE_JSON_H_

#include <string>

#include "analysis/page_timeline.h"
#include "analysis/report.h"
#include "analysis/run.h"

namespace gpubound {

// One line without a newline. `<`, `>` and `&` are written as \u escapes, so that the text can
// stand in an HTML script element whatever names the run has; bytes that are not UTF-8 become
// U+FFFD.
std::string RenderPageJson(const Run& run, const Report& report, const PageTimeline& timeline);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PAGE_JSON_H_
