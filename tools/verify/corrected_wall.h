// SPDX-License-Identifier: Apache-2.0
//
// What a profiled run would have taken without the profiler, according to the profiler.
#ifndef GPUBOUND_TOOLS_VERIFY_CORRECTED_WALL_H_
#define GPUBOUND_TOOLS_VERIFY_CORRECTED_WALL_H_

#include <cstdint>
#include <string>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"
#include "tools/verify/timed_run.h"

namespace gpubound {

struct CorrectedWall {
  double ns = 0;
  double start_and_end_error_ns = 0;  // standard error of what start and end were taken to cost
};

// |run| was recorded into |run_directory|. Takes out what the replay without the costs of recording
// takes out of the span of its process, and what the profiler cost at its start and end: of the
// process that was started, or of the run's main one where that is not part of the run. An error:
// the run cannot be read, or nothing of that process was corrected.
Result<CorrectedWall> CorrectedWallOf(const TimedRun& run, const std::string& run_directory,
                                      const Calibration& calibration);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_CORRECTED_WALL_H_
