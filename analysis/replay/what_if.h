// SPDX-License-Identifier: Apache-2.0
//
// A change of the program that a replay is to imagine: parts made faster or slower. Plain values
// without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPLAY_WHAT_IF_H_
#define GPUBOUND_ANALYSIS_REPLAY_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/trace/device_kind.h"

namespace gpubound {

enum class ScaledPart {
  kOperation,     // both of the next two
  kOperationCpu,  // CPU time of the operation |name|, waits excluded
  kOperationGpu,  // device work that the operation |name| launched
  kLayer,         // CPU time in the layer |name|
  kKernel,        // device work whose name contains |name|
  kExactKernel,   // device work called |name|
  kDevice,        // all device work
};

struct Scaling {
  ScaledPart part = ScaledPart::kOperation;
  std::string name;
  double factor = 1;  // of the time it takes, up to 1e6: 0.5 is twice as fast, 0 costs nothing
};

// Whether kernels on another GPU change by what it reaches of memory traffic or of arithmetic: of
// each kernel the more favourable, the less favourable, or the geometric mean of both.
enum class KernelBound { kMiddle, kShortest, kLongest };

struct OtherGpu {
  const DeviceKind* kind = nullptr;  // null: the GPU stays
  KernelBound bound = KernelBound::kMiddle;
};

struct WhatIf {
  std::vector<Scaling> scalings = {};
  // Operations of which each occurrence launches one graph in place of what it launches now.
  std::vector<std::string> graph_capture = {};
  // Operations of which each occurrence launches one kernel in place of all kernels.
  std::vector<std::string> fuse = {};
  OtherGpu gpu = {};
  double environments = 1;  // so many times as many in each launch

  // Every kernel is another one.
  bool changes_kernels() const { return gpu.kind != nullptr || environments != 1; }
  bool empty() const {
    return scalings.empty() && graph_capture.empty() && fuse.empty() && !changes_kernels();
  }
};

// "operation=simulation:0.5", "operation-cpu=simulation:0.5", "operation-gpu=update:0",
// "layer=python:0", "kernel=gemm:0.8", "device:0". The factor follows the last colon, so that names
// may contain colons.
Result<Scaling> ParseScaling(std::string_view text);

// "A100", "rtx4090": a name of trace/data/device_kinds.txt.
Result<OtherGpu> ParseGpu(std::string_view name);

// WhatIf::environments, and copies of a run, are at most so many.
inline constexpr double kMostEnvironments = 1e6;
inline constexpr uint64_t kMostCopies = 64;

inline bool ScalesOperation(ScaledPart part) {
  return part == ScaledPart::kOperation || part == ScaledPart::kOperationCpu ||
         part == ScaledPart::kOperationGpu;
}

// As ReportSaving::part has it.
const char* PartName(ScaledPart part);

// Whether the time of the layer |name| is the thread's own. That of waits follows from the replay.
bool IsScalableLayer(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_WHAT_IF_H_
