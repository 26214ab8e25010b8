// SPDX-License-Identifier: Apache-2.0
//
// A figure of one run or several, for `gpubound report --plot`.
#ifndef GPUBOUND_TOOLS_REPORT_PLOT_H_
#define GPUBOUND_TOOLS_REPORT_PLOT_H_

#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/status.h"

namespace gpubound {

// SVG of the runs at |paths| (the newest one here where there are none), grouped by the metadata
// |keys|. The error is that of the first run that cannot be read.
Result<std::string> PlotOf(const std::vector<std::string>& paths,
                           const std::vector<std::string>& keys, const ReportOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_REPORT_PLOT_H_
