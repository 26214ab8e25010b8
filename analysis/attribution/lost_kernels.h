// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a recorded process that CUPTI lost without a word: launches of which no kernel came,
// though the process has others. Looks through the calls and the work of those processes alone whose
// analysis has met such a launch. Pure but for reading the sources.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_KERNELS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_KERNELS_H_

#include <optional>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

// |run| with the time in which lost kernels may have run as unknown, and with a note on each process
// that has lost some; absent where none has. |unanswered|: by process, ProcessAnalysis's.
std::optional<Run> WithLostKernels(const Run& run, const std::vector<bool>& unanswered);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_KERNELS_H_
