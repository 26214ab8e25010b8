// SPDX-License-Identifier: Apache-2.0
//
// The exact partition of a process's span (SPEC section 2): every nanosecond of it goes to one cell
// (phase, operation, layer, GPU state). One linear pass over three sorted streams (CPU segments,
// device work, unknown intervals); memory is the work that runs at one instant plus the cells.
#ifndef GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_
#define GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/gpu_work.h"
#include "analysis/interval.h"
#include "analysis/process_timeline.h"
#include "analysis/work_classes.h"

namespace gpubound {

struct Cell {
  PhaseIndex phase = kNoPhaseIndex;
  OperationIndex operation = kNoOperationIndex;
  Layer layer = Layer::kUnset;
  GpuState gpu = kGpuIdle;
  int64_t ns = 0;
};

// What the sweep knows of an operation beside its cells.
struct OperationGpuTime {
  int64_t sum_ns = 0;        // plain sum of durations, clipped to the operation's time
  int64_t sm_filled_ns = 0;  // busy time weighted by SM fill, mean over the devices that are busy
};

struct SweepInput {
  Interval span;
  // Yields segments in ascending order, the first at the span's begin; false when there are none
  // left. ProcessTimeline::Next.
  std::function<bool(CpuSegment*)> next_segment;
  const std::vector<GpuItem>* work = nullptr;      // sorted by begin
  uint32_t devices = 1;                            // devices of |work| are below
  const std::vector<Interval>* unknown = nullptr;  // disjoint, ascending
  size_t operations = 1;
};

struct SweepResult {
  std::vector<Cell> cells;  // non-zero ones, ordered by phase, operation, layer, GPU state
  std::vector<OperationGpuTime> by_operation;
};

SweepResult SweepOverlap(const SweepInput& input);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_
