// SPDX-License-Identifier: Apache-2.0
//
// The HTML report as a file: the page that was bundled with the tool, with the data of one run in
// it.
#ifndef GPUBOUND_TOOLS_REPORT_PAGE_H_
#define GPUBOUND_TOOLS_REPORT_PAGE_H_

#include <string>
#include <string_view>

#include "analysis/run_report.h"
#include "analysis/status.h"

namespace gpubound {

// The page without its data; empty where the tool was built without it.
std::string_view BundledPage();

// The whole file. |analyzed| is read once more, event by event.
Result<std::string> PageOf(const AnalyzedRun& analyzed, std::string_view page = BundledPage());

// Writes |content| to |path|, replacing what was there only when all of it is written.
Status WriteWholeFile(const std::string& path, const std::string& content);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_REPORT_PAGE_H_
