// SPDX-License-Identifier: Apache-2.0
//
// A figure of one run or several, for `gpubound report --plot`.
#ifndef GPUBOUND_TOOLS_COMMANDS_REPORT_PLOT_H_
#define GPUBOUND_TOOLS_COMMANDS_REPORT_PLOT_H_

#include <list>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/page/plot.h"
#include "analysis/report/report.h"

namespace gpubound {

// What a figure is made of.
struct PlotInput {
  std::list<Report> reports;  // their addresses stay
  std::vector<PlotRun> runs;
};

// The runs at |paths| (the newest one here where there are none). The error is that of the first
// run that cannot be read.
Result<PlotInput> LoadForPlot(const std::vector<std::string>& paths, const ReportOptions& options);

// An error where no run of |input| has metadata of a name among |keys|.
Status CheckPlotKeys(const PlotInput& input, const std::vector<std::string>& keys);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_REPORT_PLOT_H_
