// SPDX-License-Identifier: Apache-2.0
//
// Finds the process that was started and sums its costs.
#include "tools/corrected_wall.h"

#include <algorithm>

#include "analysis/overhead_sum.h"
#include "analysis/reader.h"

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

}  // namespace

Result<double> CorrectedWallNs(const TimedRun& run, const std::string& run_directory,
                               const Calibration& calibration) {
  const Result<Run> recorded = LoadRun(run_directory);
  if (!recorded.ok()) return recorded.error();
  const auto root =
      std::find_if(recorded->processes.begin(), recorded->processes.end(),
                   [&](const ProcessTrace& process) { return process.identity.pid == run.pid; });
  auto corrected_ns = static_cast<double>(run.wall_ns);
  if (root == recorded->processes.end()) return corrected_ns;  // it recorded nothing itself
  const Cost events = SumOfCosts(CountReportingThread(*root), ModelOf(calibration));
  corrected_ns -= events.total_ns() + StartAndEndNs(*root, calibration);
  return corrected_ns;
}

}  // namespace gpubound
