// SPDX-License-Identifier: Apache-2.0
//
// Finds the process whose time the command took and takes out what the replay takes out of its
// span.
#include "tools/corrected_wall.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/main_process.h"
#include "analysis/run_report.h"

namespace gpubound {
namespace {

// One that was measured on a machine too busy to know it better than its own size is left out.
double CostOfProcess(const Calibration& calibration, const std::string& condition) {
  const auto found =
      std::find_if(calibration.processes.begin(), calibration.processes.end(),
                   [&](const ProcessCost& process) { return process.condition == condition; });
  if (found == calibration.processes.end()) return 0;
  const double total_ns = found->cost.total_ns();
  return 1.96 * found->cost.standard_error_ns < total_ns ? total_ns : 0;
}

// Loading CUDA's part is the same whatever loads it.
double StartAndEndNs(const ProcessTrace& process, const Calibration& calibration) {
  const double native_ns = CostOfProcess(calibration, "");
  double total_ns = process.python ? CostOfProcess(calibration, "Python") : native_ns;
  if (process.device_kind != "none") {
    total_ns += std::max(0.0, CostOfProcess(calibration, "CUDA") - native_ns);
  }
  return total_ns;
}

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

Result<double> CorrectedWallNs(const TimedRun& run, const std::string& run_directory,
                               const Calibration& calibration) {
  ReportOptions options;
  options.replays = true;
  options.speedups = false;
  options.costs = ModelOf(calibration);
  const Result<AnalyzedRun> analyzed = AnalyzeRun(run_directory, options);
  if (!analyzed.ok()) return analyzed.error();
  auto corrected_ns = static_cast<double>(run.wall_ns);
  bool is_corrected = false;
  const int64_t pid = PidToCorrect(run, analyzed->report);
  for (size_t p = 0; p < analyzed->run.processes.size(); ++p) {
    const ProcessTrace& process = analyzed->run.processes[p];
    const ReportProcess& report = analyzed->report.processes[p];
    if (process.identity.pid != pid) continue;
    corrected_ns -= StartAndEndNs(process, calibration);
    if (report.corrected == nullptr) continue;
    corrected_ns -= static_cast<double>(report.span_ns - report.corrected->process.span_ns);
    is_corrected = true;
  }
  if (!is_corrected) return NotCorrected(analyzed->report, pid);
  return corrected_ns;
}

}  // namespace gpubound
