// SPDX-License-Identifier: Apache-2.0
//
// Fits what CUDA calls cost to a process by how long CUPTI took to enter some of its calls: where
// that was longer than in the calibration's programs, recording a call was dearer in proportion
// (docs/overhead_model.md). Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_ENTRY_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_ENTRY_COSTS_H_

#include "analysis/calibration/cost_model.h"
#include "analysis/report/in_run_check.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Of a function of which fewer calls were timed, the factor is that of the others.
inline constexpr uint64_t kFewestEntries = 16;
// No factor above it is taken, nor below what it divides by.
inline constexpr double kLargestEntryFactor = 8;

// Of a function that was timed here and not measured in calibration the factor is against the entry
// of the one that does the same (SimilarCall).
//
// Takes the costs of calls in |costs| times what the entries of |process| say, where both tell of
// any. Each function has two factors: right behind the thread's call before, and behind other work,
// where a calibration that did not measure that has what calls cost as usual.
EntryCheck FitToEntries(const ProcessTrace& process, CostModel* costs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_ENTRY_COSTS_H_
