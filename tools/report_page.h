// SPDX-License-Identifier: Apache-2.0
//
// The HTML report as a file: the page that was bundled with the tool, with the data of one run in
// it.
#ifndef GPUBOUND_TOOLS_REPORT_PAGE_H_
#define GPUBOUND_TOOLS_REPORT_PAGE_H_

#include <string>

#include "analysis/run_report.h"
#include "analysis/status.h"

namespace gpubound {

// False where the tool was built without the page; then PageOf is an error that says what to do.
bool HasReportPage();

// The whole file. |analyzed| is read once more, event by event.
Result<std::string> PageOf(const AnalyzedRun& analyzed);

// Writes |content| to |path|, replacing what was there only when all of it is written.
Status WriteWholeFile(const std::string& path, const std::string& content);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_REPORT_PAGE_H_
