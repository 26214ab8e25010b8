// SPDX-License-Identifier: Apache-2.0
//
// Joins the run directory on the command line to the reading half.
#include "tools/commands/load_report.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/reader/trim_mappings.h"
#include "tools/console/console.h"
#include "tools/console/diagnostics.h"
#include "tools/console/progress_note.h"
#include "tools/launch/run_directory.h"

namespace gpubound {

Result<AnalyzedRun> LoadRunAndReport(const std::string& path, const ReportOptions& options) {
  std::string run_path = path;
  if (run_path.empty()) {
    const Result<std::string> newest = NewestRun(".");
    if (!newest.ok()) return newest.error();
    run_path = *newest;
    PrintMessage("reading the newest run here, " + EscapeName(run_path));
  }
  const ProgressNote note("reading " + run_path);
  const auto begin = std::chrono::steady_clock::now();
  Result<AnalyzedRun> analyzed = AnalyzeRun(run_path, options);
  if (analyzed.ok()) TrimMappingsOf(analyzed->run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  Diagnose(Level::kDebug,
           analyzed.ok()
               ? fmt::format("read and analysed {} ({} processes) in {:.3f} s",
                             EscapeName(run_path), analyzed->report.processes.size(), took.count())
               : fmt::format("gave up {} after {:.3f} s", EscapeName(run_path), took.count()));
  return analyzed;
}

Result<Report> LoadReport(const std::string& path, const ReportOptions& options) {
  Result<AnalyzedRun> analyzed = LoadRunAndReport(path, options);
  if (!analyzed.ok()) return analyzed.error();
  return std::move(analyzed->report);
}

}  // namespace gpubound
