// SPDX-License-Identifier: Apache-2.0
//
// What a calibration measures: each workload of the calibration programs, what kind of event its
// occurrences are and how that event is found in the trace. Plain data.
#ifndef GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PLAN_H_
#define GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PLAN_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/calibration/cost_model.h"

namespace gpubound {

enum class CalibrationProgram : uint8_t { kNative, kPython };

struct CalibrationWorkload {
  CalibrationProgram program;
  const char* name;  // as the program knows it
  CostKind kind;
  const char* condition;  // empty: the usual; see MeasuredCost
  // Of the event in the trace, for kApiCall the function; null: it has one time stamp.
  const char* label;
  uint64_t count;  // occurrences in a block: some 0.1 ms
  // The share of the time that an occurrence takes without the profiler and that lies between the
  // two time stamps with it: all of a call; of a scope that nobody records, half on either side.
  double unrecorded_share;
  int pairs = 8;            // of blocks in a round
  int threads = 1;          // that do it at a time
  const char* within = "";  // label of the operation that the program opens around each block
};

// Without "empty", the loop itself, which every program has.
std::span<const CalibrationWorkload> CalibrationPlan();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PLAN_H_
