// SPDX-License-Identifier: Apache-2.0
//
// Gives a run that has ended the calibration that belongs to it: the one kept for this machine, or
// one measured now.
#ifndef GPUBOUND_TOOLS_CALIBRATE_RUN_CALIBRATION_H_
#define GPUBOUND_TOOLS_CALIBRATE_RUN_CALIBRATION_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"
#include "tools/launch/library_files.h"
#include "tools/launch/run_environment.h"

namespace gpubound {

struct RunCalibrationOptions {
  LibraryFiles libraries;
  bool measure = true;  // where none is kept
  std::chrono::seconds time_cap{10};
  std::string how_not;  // how the user has it left out; empty: not at all
};

// Writes calibration.json into the run at |run_directory| and returns what is in it; none where no
// process was recorded, so that there is nothing to take costs out of. Says on stderr when it
// measures. An error, where there is no calibration, says why.
Result<std::optional<Calibration>> CalibrateRun(const std::string& run_directory,
                                                const RunCalibrationOptions& options);

// The interpreter that the Python processes of |run| ran with, by its name in their commands;
// "python3" where that does not name one, empty where there is no Python.
std::string InterpreterOf(const Run& run);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_RUN_CALIBRATION_H_
