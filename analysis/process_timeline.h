// SPDX-License-Identifier: Apache-2.0
//
// The CPU side of a process (SPEC section 2): at each instant one (phase, operation, layer), told
// by the reporting thread and refined by the threads that work for it. A pull stream: it merges the
// threads' timelines and holds no more than their stacks. One object, one caller.
//
// Refinement: while the reporting thread is outside Python, the layer is the deepest among it and
// the threads under the same operation. A thread that never opens an operation works under the
// reporting thread's for just that time (adoption), so its calls cause work there.
#ifndef GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_
#define GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/correlator.h"
#include "analysis/label_roles.h"
#include "analysis/run.h"
#include "analysis/thread_scan.h"
#include "analysis/thread_timeline.h"

namespace gpubound {

inline constexpr size_t kLayerCount = 8;

// The state of a process from begin_ns until the next segment begins.
struct CpuSegment {
  int64_t begin_ns = 0;
  PhaseIndex phase = kNoPhaseIndex;
  OperationIndex operation = kNoOperationIndex;
  Layer layer = Layer::kUnset;

  bool SameState(const CpuSegment& other) const {
    return phase == other.phase && operation == other.operation && layer == other.layer;
  }
};

// What an operation counts beside time.
struct OperationCounts {
  uint64_t opened = 0;            // scopes on the reporting thread
  int64_t inclusive_wall_ns = 0;  // some scope of it was open there, nested ones included
  std::array<std::array<uint64_t, kLayerCount>, kLayerCount> transitions{};  // [from][to]
};

class ProcessTimeline {
 public:
  // All arguments outlive the object.
  ProcessTimeline(const ProcessTrace& process, const LabelRoles& roles,
                  const Correlation& correlation, const ThreadScan& scan);

  // The next segment, the first of which begins at the span's begin. False at the end of the span.
  bool Next(CpuSegment* segment);

  // Valid once Next() has returned false.
  const std::vector<OperationCounts>& counts() const { return counts_; }  // by OperationIndex
  OperationIndex OperationOfCall(CallRef call) const {
    return operation_of_call_[call.thread][call.call];
  }
  uint64_t scopes_open_at_end() const { return scopes_open_; }
  uint64_t unbalanced_scopes() const { return unbalanced_; }

 private:
  using LayerCounts = std::array<uint32_t, kLayerCount>;
  struct Contribution {  // what a thread other than the reporting one adds to a LayerCounts
    OperationIndex operation = kNotOne;
    Layer layer = Layer::kUnset;
  };

  int64_t NextTime() const;
  void AdvanceBatch(int64_t now_ns);
  void AdvanceThread(uint32_t thread, int64_t now_ns);
  void Contribute(uint32_t thread, int sign);
  void NoteReportingScopes(int64_t now_ns);
  void ResolveBatch();
  CpuSegment StateAt(int64_t begin_ns) const;
  bool ReportingOutsidePython() const;
  OperationIndex ReportingOperation() const;
  Layer ReportingLayer() const;
  bool Adopts(uint32_t thread) const { return !scan_.annotates[thread] && !IsReporting(thread); }
  bool IsReporting(uint32_t thread) const { return thread == scan_.reporting; }
  int64_t ClippedToSpan(int64_t time_ns) const;
  void Finish();

  const ProcessTrace& process_;
  const ThreadScan& scan_;
  const Layer base_layer_;
  std::vector<ThreadTimeline> threads_;
  std::vector<std::pair<int64_t, uint32_t>> queue_;  // min-heap of (next time, thread)

  PhaseIndex phase_ = kNoPhaseIndex;
  std::vector<Contribution> contributions_;  // by thread
  std::vector<LayerCounts> others_;          // by operation: threads that speak for themselves
  LayerCounts adopters_{};

  struct BegunCall {
    CallRef call;
    OperationIndex own_operation;
  };
  struct PendingTransition {
    uint32_t thread;
    ThreadStep::Transition transition;
  };
  ThreadStep step_;
  std::vector<BegunCall> begun_;
  std::vector<PendingTransition> pending_;

  std::vector<OperationCounts> counts_;
  std::vector<uint64_t> open_count_;  // by operation, on the reporting thread
  std::vector<int64_t> open_since_ns_;
  std::vector<std::vector<OperationIndex>> operation_of_call_;
  uint64_t scopes_open_ = 0;
  uint64_t unbalanced_ = 0;
  CpuSegment last_;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_
