// SPDX-License-Identifier: Apache-2.0
//
// One round of a calibration: a pair of each calibration program, started afresh, every workload in
// a few pairs of blocks, and what the profiled programs recorded meanwhile; then CUDA calls once
// more, when the recording has ended. Several rounds tell how much one pair of processes differs
// from the next. Single-threaded.
#ifndef GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_ROUND_H_
#define GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_ROUND_H_

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"
#include "analysis/calibration/paired_blocks.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/calibration_plan.h"

namespace gpubound {

// How long a recording that was told to end is waited for.
inline constexpr std::chrono::seconds kEndPatience(3);

struct CalibrationRound {
  std::map<const CalibrationWorkload*, PairedBlocks> blocks;
  std::map<std::string, PairedBlocks> processes;  // whole lives of programs, by ProcessCost's words
  std::map<std::string, std::string> refused;     // workload, and the program's reason
  bool has_ended = true;  // the recording, in time to measure behind its end what is to be
  MachineKey machine;
};

// |run_directory| is where the profiled programs write; it does not exist yet. |with_lives|: whole
// lives of programs, too.
Result<CalibrationRound> RunCalibrationRound(const CalibrateOptions& options,
                                             const std::string& run_directory, bool with_lives,
                                             std::mt19937_64* random);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_ROUND_H_
