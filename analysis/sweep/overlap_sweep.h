// SPDX-License-Identifier: Apache-2.0
//
// The exact partition of a process's span (SPEC section 2): every nanosecond of it goes to one cell
// (phase, operation, layer, GPU state). One pass over the CPU side and the GPU side, instant by
// instant; memory is what holds at one instant plus the results.
#ifndef GPUBOUND_ANALYSIS_SWEEP_OVERLAP_SWEEP_H_
#define GPUBOUND_ANALYSIS_SWEEP_OVERLAP_SWEEP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/status.h"
#include "analysis/sweep/cell_book.h"
#include "analysis/sweep/counter_book.h"
#include "analysis/sweep/cpu_split.h"
#include "analysis/sweep/idle_gaps.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/sweep/kernel_book.h"
#include "analysis/sweep/launch_stats.h"
#include "analysis/sweep/op_book.h"
#include "analysis/sweep/queued_time.h"
#include "analysis/sweep/stack_book.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/timeline/device_timeline.h"
#include "analysis/timeline/process_timeline.h"

namespace gpubound {

// The reporting thread waited for another process, under an operation.
struct PeerWait {
  PeerIndex peer = kNotOne;
  OperationIndex operation = kNoOperationIndex;
  Interval time;
};

struct LaneCells {
  uint32_t thread = 0;
  bool handed_over = false;  // all its operations were
  std::vector<CellBook::Row> rows;
  LaneScopes scopes;
  CpuSplits cpu;
};

// Work whose times are wrong by more than kClockToleranceNs.
struct MisplacedWork {
  uint64_t count = 0;
  int64_t most_ns = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(count, most_ns);
  }
};

struct SweepInput {  // everything outlives the call
  // With kBreakdown no lanes and gaps are found, of kernels only graphs recorded as a whole.
  bool everything = true;  // else no threads, kernels, gaps and counters (ReportDetail)
  Interval span;
  const ProcessTrace* process = nullptr;
  const EventSource* source = nullptr;
  const LabelRoles* roles = nullptr;
  const ThreadScan* scan = nullptr;
  const std::vector<Interval>* unknown = nullptr;  // disjoint, ascending
  const std::vector<Peer>* peers = nullptr;
  const std::vector<InheritedOperation>* inherited = nullptr;
  // Where another sweep stopped: what it wrote as SweepStop::state. |source| goes on there, and
  // |unknown| and |inherited| hold what ends there or later. Empty: from the span's begin.
  std::string_view before;
};

struct SweepResult {
  std::vector<CellBook::Row> rows;
  std::vector<OperationCounts> counts;  // by OperationIndex
  CpuSplits cpu;                        // of the reporting thread
  StackCounts stacks;                   // likewise
  TotalCpuTime total_cpu_time;          // of all threads, whatever they are
  // Per operation, the union of the work whose API call began in it, clipped to the span.
  std::vector<int64_t> caused_ns;
  std::vector<LaneCells> lanes;
  IterationTimes iterations;
  std::vector<IdleGap> gaps;
  std::vector<MarkedGap> marked_gaps;
  std::vector<QueuedIdle> queued;  // by DeviceId
  std::vector<PeerWait> waits;
  std::vector<CounterMeans> counters;  // by OperationIndex; empty without samples
  std::vector<KernelTime> kernels;     // by operation and name
  std::vector<OpTime> ops;             // where the trace has operators
  std::vector<LaunchTime> launches;    // by OperationIndex
  std::vector<bool> device_used;       // by DeviceId
  std::vector<bool> device_ran_graph;  // likewise: graphs that were recorded as a whole
  std::vector<Interval> pauses;        // since |before|; the last one may have no end
  double smi_model = 0;
  double most_smi_model = 0;                       // had kernels run in all unknown time
  std::shared_ptr<const DeviceActivity> activity;  // since |before|, beyond the span too
  bool fill_is_upper_bound = false;
  bool launches_unanswered = false;  // no work came of some call that launches one piece of it
  uint64_t work_without_launch = 0;
  MisplacedWork early_work;  // seems to begin before the call that launched it
  MisplacedWork late_work;   // seems to end after a wait for it had returned
  uint64_t mixed_graphs = 0;
  DoubtfulScopes doubtful_scopes;
};

// Where a sweep stopped.
struct SweepStop {
  std::string state;
  // Of the reporting thread since |before|. One that is not over comes last, cut, and will come
  // again whole.
  std::vector<PeerWait> waits;
  bool last_wait_goes_on = false;
  // What may bound a part of the run: the begin of the first iteration and of the one that has not
  // ended, the end of warm-up and of the last iteration after it.
  std::vector<int64_t> boundaries_ns;
  std::optional<Interval> warm_up;                 // once an iteration has ended; see WarmUpOf()
  std::vector<Iteration> steady;                   // iterations after warm-up that have ended
  std::shared_ptr<const DeviceActivity> activity;  // since |before|
  std::vector<Interval> pauses;                    // likewise
};

// An error of |input|.before: it is no such state.
Result<SweepResult> SweepOverlap(const SweepInput& input);
// The same until |until_ns|, which |before| does not lie behind. What the span's end cuts off is
// not known yet and may be open-ended.
Result<SweepStop> SweepUntil(const SweepInput& input, int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_OVERLAP_SWEEP_H_
