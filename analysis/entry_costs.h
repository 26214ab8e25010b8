// SPDX-License-Identifier: Apache-2.0
//
// Fits what CUDA calls cost to a process by how long CUPTI took to enter some of its calls: where
// that was longer than in the calibration's programs, recording a call was dearer, by as much as
// between the calibration's own two conditions (docs/overhead_model.md). Pure.
#ifndef GPUBOUND_ANALYSIS_ENTRY_COSTS_H_
#define GPUBOUND_ANALYSIS_ENTRY_COSTS_H_

#include "analysis/cost_model.h"
#include "analysis/in_run_check.h"
#include "analysis/run.h"

namespace gpubound {

// Of a function of which fewer calls were timed, the factor is that of the others.
inline constexpr uint64_t kFewestEntries = 16;
// No factor above it is taken, nor below what it divides by.
inline constexpr double kLargestEntryFactor = 8;
// A calibration whose entries differ by less between its two conditions does not tell how costs
// grow with them: then they are taken to be proportional.
inline constexpr double kFewestTimesLonger = 1.3;

// How costs of calls grow with the entry, by the functions that were measured in both conditions:
// cost ~ entry ^ growth, from 0 to 1.
double GrowthWithEntry(const CostModel& costs);

// Takes the costs of calls in |costs| times what the entries of |process| say, where both tell of
// any. Each function has two factors: right behind the thread's call before, and behind other work.
EntryCheck FitToEntries(const ProcessTrace& process, CostModel* costs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ENTRY_COSTS_H_
