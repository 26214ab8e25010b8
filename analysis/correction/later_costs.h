// SPDX-License-Identifier: Apache-2.0
//
// Checks costs against the iterations of the same program that came behind the end of its recording
// (`--steps`, `--duration`): they ran without the profiler, so a recorded one with all costs taken
// out should be as long as they are (docs/overhead_model.md).
#ifndef GPUBOUND_ANALYSIS_CORRECTION_LATER_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_LATER_COSTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/correction/level_change.h"
#include "analysis/report/in_run_check.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Of a process that has fewer, in its recording or behind it, nothing is told: of the first ones
// and the last the begin is not known, or something else happens in them.
inline constexpr size_t kFewestLater = kFewestOnASide + 2;

// Of processes that have such iterations, takes the costs of calls in |checked|, or where they make
// none those of scopes, times what makes both as long, where that is known more surely than the
// costs are. Replays |run| at most seven times where any process has. |operations| as in
// BreakdownOptions; errors are those of ReplayRun.
Status CheckLater(const Run& run, const std::vector<std::string>& operations, InRunCosts* checked);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_LATER_COSTS_H_
