// SPDX-License-Identifier: Apache-2.0
//
// What a run would be with GPUs moved from one of its roles to another: each role's work divides
// evenly over its GPUs, so that what its processes do takes as much less, or more, time. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_MOVE_GPUS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_MOVE_GPUS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/replay/what_if.h"
#include "analysis/report/report.h"
#include "analysis/report/what_if_result.h"

namespace gpubound {

struct GpuMove {
  std::string from;  // roles
  std::string to;
  uint32_t gpus = 0;  // 0: none is asked for
};

// "rollout:train:1".
Result<GpuMove> ParseGpuMove(std::string_view text);

struct ResizedRoles {
  MovedGpus moved;
  std::vector<std::vector<Scaling>> by_process;  // by their place in Report::processes
};

// |report| is of the run without a change. Errors: it has no such roles, they share devices, or the
// one would have none left.
Result<ResizedRoles> ResizeRoles(const Report& report, const GpuMove& move);

// With what shares that are not even make uncertain of it: a standard deviation of 0.7 %, as found on
// 100 programs on the simulated device (docs/what_if.md).
SpanRatio WithUnevenShares(SpanRatio ratio);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_MOVE_GPUS_H_
