// SPDX-License-Identifier: Apache-2.0
//
// The exact partition of a process's span (SPEC section 2): every nanosecond of it goes to one cell
// (phase, operation, layer, GPU state). One pass over the CPU side and the GPU side, instant by
// instant; memory is what holds at one instant plus the results.
#ifndef GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_
#define GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_

#include <cstdint>
#include <vector>

#include "analysis/cell_book.h"
#include "analysis/counter_book.h"
#include "analysis/device_timeline.h"
#include "analysis/idle_gaps.h"
#include "analysis/interval.h"
#include "analysis/iteration_book.h"
#include "analysis/process_timeline.h"

namespace gpubound {

// The reporting thread waited for another process, under an operation.
struct PeerWait {
  PeerIndex peer = kNotOne;
  Interval time;
  OperationIndex operation = kNoOperationIndex;
};

// Device work by name.
struct WorkCount {
  uint64_t count = 0;
  int64_t sum_ns = 0;  // clipped to the span
  WorkClass work_class = kCompute;
};

struct LaneCells {
  uint32_t thread = 0;
  std::vector<CellBook::Row> rows;
};

struct SweepInput {  // everything outlives the call
  Interval span;
  const ProcessTrace* process = nullptr;
  const EventSource* source = nullptr;
  const LabelRoles* roles = nullptr;
  const ThreadScan* scan = nullptr;
  const std::vector<Interval>* unknown = nullptr;  // disjoint, ascending
  const std::vector<Peer>* peers = nullptr;
  const std::vector<InheritedOperation>* inherited = nullptr;
};

struct SweepResult {
  std::vector<CellBook::Row> rows;
  std::vector<OperationCounts> counts;  // by OperationIndex
  // Per operation, the union of the work whose API call began in it, clipped to the span.
  std::vector<int64_t> caused_ns;
  std::vector<LaneCells> lanes;
  IterationTimes iterations;
  std::vector<IdleGap> gaps;
  std::vector<PeerWait> waits;
  std::vector<CounterMeans> counters;  // by OperationIndex; empty without samples
  std::vector<WorkCount> works;   // by WorkId; the last one stands for all ids that have no row
  std::vector<bool> device_used;  // by DeviceId
  double smi_model = 0;
  bool fill_is_upper_bound = false;
  uint64_t work_without_launch = 0;
  uint64_t scopes_open_at_end = 0;
  uint64_t unbalanced_scopes = 0;
};

SweepResult SweepOverlap(const SweepInput& input);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OVERLAP_SWEEP_H_
