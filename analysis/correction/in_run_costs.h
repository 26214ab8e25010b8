// SPDX-License-Identifier: Apache-2.0
//
// Checks calibrated costs against the run that they are taken out of: iterations that ran without
// their scopes being recorded are shorter than their like by what recording cost here. Where that
// tells the cost more surely than a calibration on another program does, it takes its place; what
// the run could not check keeps its cost with a wider error, and a reason (docs/overhead_model.md).
#ifndef GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/report/in_run_check.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct InRunCosts {
  std::vector<CostModel> costs;    // by process; none where they cannot be taken out
  std::vector<InRunCheck> checks;  // likewise; empty of a trace that does not speak of it
};

// How far a cost may be off in a program other than the one it was measured in: one standard
// deviation, as a share of the cost. A judgement, not a measurement: docs/overhead_model.md.
inline constexpr double kTransferError = 0.25;
// Fewer suspended iterations tell nothing.
inline constexpr uint64_t kFewestSuspended = 8;

// Replays |run| without the costs of scopes, at most three times, where iterations were suspended;
// then checks what is left against iterations behind the recording (later_costs.h). |operations| as
// in BreakdownOptions. Errors are those of ReplayRun.
Result<InRunCosts> CheckCosts(const Run& run, const CostModel& calibrated,
                              const std::vector<std::string>& operations);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_IN_RUN_COSTS_H_
