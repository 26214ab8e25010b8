// SPDX-License-Identifier: Apache-2.0
//
// What recording was measured to cost, and on what machine: the content of a calibration. Plain
// values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calibration/cost_model.h"
#include "analysis/calibration/machine_key.h"

namespace gpubound {

// MeasuredCost::condition of an instant that an interpreter made.
inline constexpr char kFromPython[] = "from Python";
// ... of an event that follows code which has nothing to do with it.
inline constexpr char kAfterOtherWork[] = "after other work";

struct MeasuredCost {
  CostKind kind = CostKind::kNativeScope;
  std::string api;  // function, for kApiCall
  // What was different from the usual (warm caches, one thread, a name that is a literal); empty:
  // nothing. These are stored to be known; the model takes the usual, and the two above.
  std::string condition;
  Cost cost;
};

// What a recorded process costs beside its events: loading the profiler, writing the end of the
// trace. |condition|: "" of a native program, "CUDA" of one that uses it, "Python".
struct ProcessCost {
  std::string condition;
  Cost cost;  // all of it outside
};

// What could not be measured, and why, as a sentence.
struct NotMeasured {
  std::string what;
  std::string why;
};

struct Calibration {
  MachineKey machine;
  int64_t measured_realtime_ns = 0;
  int64_t duration_ns = 0;  // that measuring took
  uint64_t seed = 0;        // of the order of the blocks
  std::vector<MeasuredCost> costs;
  std::vector<ProcessCost> processes;
  std::vector<NotMeasured> missing;
};

// Words for a CostKind as the file and the tables have them: "native_scope".
std::string_view CostKindName(CostKind kind);

// The costs that the replay takes out of processes that the calibration holds for. Those of any API
// call are the mean over the functions that were measured, with what these differ by as its error.
CostModel ModelOf(const Calibration& calibration);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_H_
