// SPDX-License-Identifier: Apache-2.0
//
// The experiment behind `gpubound calibrate`: pairs of equal programs, one with the shipped
// libraries in it as `gpubound run` puts them there, one without, that take turns in random order
// at small blocks of each workload. What the profiler costs is the difference; where in relation to
// an event's time stamps it lies, the trace of the profiled program says. Both run on the same
// machine at the same time, so what disturbs one disturbs the other.
//
// Starts programs and writes into a temporary folder; single-threaded.
#ifndef GPUBOUND_TOOLS_CALIBRATE_CALIBRATE_H_
#define GPUBOUND_TOOLS_CALIBRATE_CALIBRATE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"
#include "tools/launch/library_files.h"
#include "tools/launch/run_environment.h"

namespace gpubound {

struct CalibrateOptions {
  LibraryFiles libraries;
  std::string python;  // interpreter, a path or a name in PATH; empty: Python is left out
  bool cuda = true;
  std::string cuda_runtime;  // path of the libcudart; empty: the one that the loader finds
  uint64_t seed = 0;
  // After the third, no further round is begun that would not end by then; what was measured
  // counts.
  std::chrono::seconds time_cap{45};
};

// An error: not even scopes could be measured.
Result<Calibration> MeasureCosts(const CalibrateOptions& options);

// What `gpubound calibrate` prints.
std::string RenderCosts(const Calibration& calibration);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_CALIBRATE_H_
