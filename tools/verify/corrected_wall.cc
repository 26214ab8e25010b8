// SPDX-License-Identifier: Apache-2.0
//
// Finds the process whose time the command took and takes out what the replay takes out of its
// span.
#include "tools/verify/corrected_wall.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/correction/start_and_end.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/own_work.h"

namespace gpubound {
namespace {

// What was started may be a wrapper that is not part of the run: a shell, env, uv.
int64_t PidToCorrect(const TimedRun& run, const Report& report) {
  const bool is_recorded =
      std::any_of(report.processes.begin(), report.processes.end(),
                  [&](const ReportProcess& process) { return process.pid == run.pid; });
  const ReportProcess* main = MainProcess(report);
  return is_recorded || main == nullptr ? run.pid : main->pid;
}

Error NotCorrected(const Report& report, int64_t pid) {
  Error error = {"correcting the time of", fmt::format("process {}", pid), "nothing to take out",
                 "its corrected values", "See why: gpubound run -- CMD"};
  for (const ReportProcess& process : report.processes) {
    if (process.pid == pid && !process.corrected_why_not.empty()) {
      error.found = process.corrected_why_not;
    }
  }
  return error;
}

}  // namespace

Result<CorrectedWall> CorrectedWallOf(const TimedRun& run, const std::string& run_directory,
                                      const Calibration& calibration) {
  ReportOptions options;
  options.detail = ReportDetail::kBreakdown;
  options.replays = true;
  options.savings = false;
  options.costs = ModelOf(calibration);
  const Result<AnalyzedRun> analyzed = AnalyzeRun(run_directory, options);
  if (!analyzed.ok()) return analyzed.error();
  CorrectedWall corrected = {.ns = static_cast<double>(run.wall_ns)};
  bool is_corrected = false;
  const int64_t pid = PidToCorrect(run, analyzed->report);
  for (size_t p = 0; p < analyzed->run.processes.size(); ++p) {
    const ProcessTrace& process = analyzed->run.processes[p];
    const ReportProcess& report = analyzed->report.processes[p];
    if (process.identity.pid != pid) continue;
    const StartAndEndCost start_and_end = StartAndEndOf(process, calibration.processes);
    corrected.ns -= start_and_end.ns;
    corrected.start_and_end_error_ns += start_and_end.error_ns;
    if (report.corrected == nullptr) continue;
    corrected.ns -= static_cast<double>(report.span_ns - report.corrected->process.span_ns);
    // The replay takes all of that out, and |run| does not count the times at which it was stopped.
    corrected.ns += static_cast<double>(OwnWorkWithin(process, run.stopped));
    is_corrected = true;
  }
  if (!is_corrected) return NotCorrected(analyzed->report, pid);
  return corrected;
}

}  // namespace gpubound
