// SPDX-License-Identifier: Apache-2.0
//
// What recording events cost of which nothing is left: no replay takes it out. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_LOST_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_LOST_COSTS_H_

#include <string>

#include "analysis/calibration/cost_model.h"
#include "analysis/trace/run.h"

namespace gpubound {

// A corrected value is within 2 % of the truth (docs/overhead_model.md); half of that may be lost.
inline constexpr double kMostLostShare = 0.01;

// What the lost events of |process| cost at most, ns: as many times what the dearest costs in the
// mean. Of a process that made no CUDA call that was recorded, the dearest is no call.
double MostCostOfLost(const ProcessTrace& process, CostModel costs);

// Why |costs| cannot be taken out of |process|, as part of a sentence: they are those of another
// machine, or more than kMostLostShare of its span is what lost events cost. Empty: they can.
std::string WhyNoCostsOf(const ProcessTrace& process, const CostModel& costs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_LOST_COSTS_H_
