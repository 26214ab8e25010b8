// SPDX-License-Identifier: Apache-2.0
//
// Streams, and loads where that fails. No state.
#include "analysis/run_report.h"

#include <algorithm>

#include "analysis/event_source.h"
#include "analysis/reader.h"

namespace gpubound {

Result<Report> ReportOfRun(const std::string& path, const ReportOptions& options) {
  const Result<Run> run = OpenRun(path);
  if (!run.ok()) return run.error();
  Result<Report> report = BuildReport(*run, options);
  const bool failed =
      std::any_of(run->processes.begin(), run->processes.end(), [](const ProcessTrace& process) {
        return process.source != nullptr && process.source->failed();
      });
  if (!failed) return report;
  const Result<Run> loaded = LoadRun(path);
  if (!loaded.ok()) return loaded.error();
  return BuildReport(*loaded, options);
}

}  // namespace gpubound
