// SPDX-License-Identifier: Apache-2.0
//
// Reads runs one after the other and keeps their reports. No state.
#include "tools/commands/report_plot.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "analysis/correction/report_options.h"
#include "analysis/trace/run_metadata.h"
#include "tools/commands/load_report.h"

namespace gpubound {

Result<PlotInput> LoadForPlot(const std::vector<std::string>& paths, const ReportOptions& options) {
  PlotInput input;
  for (const std::string& path : paths.empty() ? std::vector<std::string>{""} : paths) {
    Result<AnalyzedRun> analyzed = LoadRunAndReport(path, options);
    if (!analyzed.ok()) return analyzed.error();
    PlotRun& run = input.runs.emplace_back();
    run.name = NameOf(analyzed->run);
    run.metadata = MetadataOf(analyzed->run);
    run.report = &input.reports.emplace_back(std::move(analyzed->report));
  }
  return input;
}

Status CheckPlotKeys(const PlotInput& input, const std::vector<std::string>& keys) {
  std::set<std::string> known;
  for (const PlotRun& run : input.runs) {
    for (const auto& [key, value] : run.metadata) known.insert(key);
  }
  const std::vector<std::string> spelled(known.begin(), known.end());
  std::string names;
  for (const std::string& key : known) names += (names.empty() ? "" : ", ") + EscapeName(key);
  for (const std::string& key : keys) {
    if (known.contains(key)) continue;
    const std::string closest = ClosestName(key, spelled);
    return Error{"grouping runs", "--group-by " + EscapeName(key), "no run with such metadata",
                 names.empty() ? "metadata, of which they have none" : names,
                 closest.empty() ? "gpubound.metadata({\"algorithm\": \"ppo\"}) in the program "
                                   "names what runs differ in."
                                 : "Did you mean '" + EscapeName(closest) + "'?"};
  }
  return Ok{};
}

}  // namespace gpubound
