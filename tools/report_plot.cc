// SPDX-License-Identifier: Apache-2.0
//
// Reads runs one after the other and keeps their reports. No state.
#include "tools/report_plot.h"

#include <list>

#include "analysis/plot.h"
#include "analysis/run_metadata.h"
#include "tools/load_report.h"

namespace gpubound {

Result<std::string> PlotOf(const std::vector<std::string>& paths,
                           const std::vector<std::string>& keys, const ReportOptions& options) {
  std::list<Report> reports;  // their addresses stay
  std::vector<PlotRun> runs;
  for (const std::string& path : paths.empty() ? std::vector<std::string>{""} : paths) {
    Result<AnalyzedRun> analyzed = LoadRunAndReport(path, options);
    if (!analyzed.ok()) return analyzed.error();
    PlotRun& run = runs.emplace_back();
    run.name = NameOf(analyzed->run);
    run.metadata = MetadataOf(analyzed->run);
    run.report = &reports.emplace_back(std::move(analyzed->report));
  }
  return RenderPlot(GroupForPlot(runs, keys));
}

}  // namespace gpubound
