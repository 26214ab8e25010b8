// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the run's critical path, and what parts of it would buy if they took no
// time: all device work, the operation and the layers that matter most on the path. Pure.
#ifndef GPUBOUND_ANALYSIS_SPEEDUPS_H_
#define GPUBOUND_ANALYSIS_SPEEDUPS_H_

#include "analysis/replay.h"
#include "analysis/report.h"
#include "analysis/run.h"
#include "analysis/status.h"

namespace gpubound {

// Of |base|, the replay of |run| as |replay| says, with the critical path of one process: sets the
// critical path, the GPU-limited share and what-ifs of |report|. Each question is one more pass
// over the events; |ask| says whether there are any.
Status AddSpeedups(const Run& run, const ReplayedRun& base, const ReplayOptions& replay, bool ask,
                   Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SPEEDUPS_H_
