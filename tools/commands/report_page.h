// SPDX-License-Identifier: Apache-2.0
//
// HTML files: the page that was bundled with the tool, with the data of one run in it, or of a
// comparison.
#ifndef GPUBOUND_TOOLS_COMMANDS_REPORT_PAGE_H_
#define GPUBOUND_TOOLS_COMMANDS_REPORT_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/correction/run_report.h"
#include "analysis/output/check/compare.h"

namespace gpubound {

// The page without its data; empty where the tool was built without it.
std::string_view BundledPage();

// The whole file. |analyzed| is read once more, event by event.
Result<std::string> PageOf(const AnalyzedRun& analyzed, std::string_view page = BundledPage());

// Likewise of a comparison.
Result<std::string> ComparisonPageOf(const GroupComparison& comparison,
                                     const std::vector<RunGroup>& groups,
                                     std::string_view page = BundledPage());

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_REPORT_PAGE_H_
