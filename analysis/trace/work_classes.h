// SPDX-License-Identifier: Apache-2.0
//
// Classes of device work (SPEC section 1) and their place in a GPU state. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_WORK_CLASSES_H_
#define GPUBOUND_ANALYSIS_TRACE_WORK_CLASSES_H_

#include <cstdint>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// Categories of an ActiveSet; the order is the order in which a GPU state names them.
enum WorkClass : uint8_t { kComm = 0, kCompute = 1, kCopy = 2 };
inline constexpr int kWorkClasses = 3;

// A GPU state: a bit per active class, or kGpuUnknown. 0 is idle.
using GpuState = uint32_t;
inline constexpr GpuState kGpuIdle = 0;
inline constexpr GpuState kGpuUnknown = 1u << kWorkClasses;
inline constexpr uint32_t kGpuStates = kGpuUnknown + 1;

constexpr bool IsBusy(GpuState state) { return state != kGpuIdle && state != kGpuUnknown; }
constexpr bool HasClass(GpuState state, WorkClass work_class) {
  return IsBusy(state) && (state >> work_class & 1u) != 0;
}

// Of a row; what a graph that was recorded as a whole runs is not known by it (known_graphs.h).
WorkClass ClassOf(const Work& work);
const char* WorkClassName(WorkClass work_class);

// "idle", "unknown", or e.g. "comm+compute".
std::string GpuStateName(GpuState state);

const char* LayerName(Layer layer);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_WORK_CLASSES_H_
