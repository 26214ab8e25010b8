// SPDX-License-Identifier: Apache-2.0
//
// What the report page is given, as JSON, format gpubound.page.v1 (docs/report.md). Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_JSON_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_JSON_H_

#include <string>
#include <string_view>

#include "analysis/output/page/page_timeline.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |json| with `<`, `>` and `&` as \u escapes, so that it can stand in an HTML script element
// whatever names it holds. It is the same JSON.
std::string EscapedForHtml(std::string_view json);

// One line without a newline, escaped for HTML; bytes that are not UTF-8 become U+FFFD.
std::string RenderPageJson(const Run& run, const Report& report, const PageTimeline& timeline);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_JSON_H_
