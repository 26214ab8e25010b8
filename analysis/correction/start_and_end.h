// SPDX-License-Identifier: Apache-2.0
//
// What the profiler adds to a process once: its libraries are loaded, hooks are put into imports,
// the trace is closed. No event carries that cost, so that no replay takes it out. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_START_AND_END_H_
#define GPUBOUND_ANALYSIS_CORRECTION_START_AND_END_H_

#include <vector>

#include "analysis/calibration/calibration.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct StartAndEndCost {
  double ns = 0;
  double error_ns = 0;  // standard error
};

// As |measured| says of processes like |process|; 0 with an error where they were measured too
// badly, 0 without one where they were not measured.
StartAndEndCost StartAndEndOf(const ProcessTrace& process,
                              const std::vector<ProcessCost>& measured);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_START_AND_END_H_
