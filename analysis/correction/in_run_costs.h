// SPDX-License-Identifier: Apache-2.0
//
// Checks calibrated costs against the run that they are taken out of: by how long CUPTI took to
// enter its calls, and by iterations after the end of the recording. Where these tell a cost more
// surely than a calibration on another program does, they take its place; what the run could not
// check keeps its cost with a wider error, and a reason (docs/overhead_model.md).
#ifndef GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_

#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/report/in_run_check.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct InRunCosts {
  std::vector<CostModel> costs;    // by process; none where they cannot be taken out
  std::vector<InRunCheck> checks;  // likewise
};

// How far a cost may be off in a program other than the one it was measured in: one standard
// deviation, as a share of the cost. A judgement, not a measurement: docs/overhead_model.md.
inline constexpr double kTransferError = 0.25;

// Replays |run| where there are iterations after the recording (later_costs.h). |operations| as in
// BreakdownOptions. Errors are those of ReplayRun.
Result<InRunCosts> CheckCosts(const Run& run, const CostModel& calibrated,
                              const std::vector<std::string>& operations);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_
