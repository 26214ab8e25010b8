// SPDX-License-Identifier: Apache-2.0
//
// Looks the calibration up. No state.
#include "analysis/correction/run_costs.h"

#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/lost_costs.h"
#include "analysis/correction/report_options.h"

namespace gpubound {

ReportOptions WithCostsOf(const Run& run, ReportOptions options) {
  if (options.costs) return options;
  const Result<Calibration> calibration = CalibrationOf(run, options.calibration_folder);
  if (calibration.ok()) {
    options.costs = ModelOf(*calibration);
    options.process_costs = calibration->processes;
  } else {
    const Error& error = calibration.error();
    options.why_no_costs = error.found + (error.remedy.empty() ? "" : "; " + error.remedy);
  }
  return options;
}

std::string WhyNotCorrected(const ReportOptions& options, const ProcessTrace& process) {
  if (!options.costs) return options.why_no_costs;
  return WhyNoCostsOf(process, *options.costs);
}

}  // namespace gpubound
