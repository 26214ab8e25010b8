// SPDX-License-Identifier: Apache-2.0
//
// The CPU side of a process (SPEC section 2): at each instant one (phase, operation, layer), told
// by the reporting thread and refined by the threads that work for it; beside it a lane for each
// further thread that annotates. Merges the streams of all threads instant by instant and holds no
// more than their open scopes, the open calls, and the calls of the newest kClockSlackNs. One
// object, one caller.
//
// Refinement: while the reporting thread is outside Python, the layer is the deepest among it and
// the threads under the same operation. A thread that never opens an operation works under the
// reporting thread's for just that time (adoption), so its calls cause work there.
#ifndef GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_
#define GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/call_stream.h"
#include "analysis/event_source.h"
#include "analysis/label_roles.h"
#include "analysis/layer_counts.h"
#include "analysis/run.h"
#include "analysis/scope_counts.h"
#include "analysis/thread_scan.h"
#include "analysis/thread_state.h"

namespace gpubound {

// What the CPU side is at one instant.
struct CpuState {
  PhaseIndex phase = kNoPhaseIndex;
  OperationIndex operation = kNoOperationIndex;
  Layer layer = Layer::kUnset;
  IdleCause cause = IdleCause::kUnknown;
  PeerIndex peer = kNotOne;  // the process that the reporting thread waits for
  friend bool operator==(const CpuState&, const CpuState&) = default;
};

// An operation of another process under which that one waits for this one. A list of them is
// ascending and disjoint.
struct InheritedOperation {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  OperationIndex operation = kNoOperationIndex;
};

class ProcessTimeline {
 public:
  struct Input {  // everything outlives the object
    const ProcessTrace* process = nullptr;
    const EventSource* source = nullptr;
    const LabelRoles* roles = nullptr;
    const ThreadScan* scan = nullptr;
    const std::vector<Peer>* peers = nullptr;
    const std::vector<InheritedOperation>* inherited = nullptr;
  };
  explicit ProcessTimeline(const Input& input);

  // Time of the next instant at which something happens; kOpenEnded when nothing does.
  int64_t NextTime();
  // Processes all that happens at NextTime().
  void Advance();

  // Told of each piece of work before Advance() reaches the time of its begin, in order of begin.
  // Says which call launched it; kNoCall where none is known.
  CallNumber WorkBegins(const DeviceWork& work);
  const CallIndex& calls() const { return calls_.index(); }

  // From the last Advance() until NextTime().
  const CpuState& state() const { return state_; }
  bool paused() const { return paused_; }  // recording is off
  size_t lanes() const { return lane_thread_.size(); }
  uint32_t lane_thread(size_t lane) const { return lane_thread_[lane]; }
  CpuState LaneState(size_t lane) const;

  // Of the last Advance(): lanes that may have changed, and numbers of iterations that ended.
  const std::vector<uint32_t>& changed_lanes() const { return changed_lanes_; }
  const std::vector<uint64_t>& steps() const { return steps_; }

  // Valid once NextTime() is kOpenEnded.
  std::vector<OperationCounts> Finish();  // by OperationIndex
  uint64_t scopes_open_at_end() const { return scopes_open_; }
  uint64_t unbalanced_scopes() const { return unbalanced_; }

 private:
  struct Thread {
    explicit Thread(ThreadState initial) : state(std::move(initial)) {}
    ThreadState state;
    std::unique_ptr<ThreadCursor> cursor;
    ThreadBatch batch;
    size_t next_event = 0;
    uint32_t lane = kNotOne;
    bool adopts = false;
    bool touched = false;
    // What it adds to a LayerCounts while it is not the reporting thread.
    OperationIndex share_operation = kNoOperationIndex;
    Layer share_layer = Layer::kUnset;
    IdleCause share_cause = IdleCause::kUnknown;
  };
  enum class TimerKind : uint8_t { kCallEnds, kWaitEnds, kCompileEnds, kWaitBegins };
  struct Timer {
    int64_t time_ns;
    TimerKind kind;
    uint32_t thread;
    bool operator>(const Timer& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : kind > other.kind;
    }
  };
  struct BegunCall {
    CallNumber number;
    uint32_t thread;
    OperationIndex own_operation;
  };
  struct PendingTransition {
    uint32_t thread;
    ThreadStep::Transition transition;
  };
  struct ForeignEnd {
    uint32_t thread;
    uint64_t range;
  };

  Thread& ThreadAt(uint32_t thread);
  void Queue(uint32_t thread);
  bool FetchEvent(Thread* thread);
  void Touch(uint32_t thread);
  void Untouch();
  void Contribute(const Thread& thread, int sign);
  void SetTimer(int64_t time_ns, TimerKind kind, uint32_t thread);
  void RunTimers(int64_t now_ns);
  void BeginOverheads(int64_t now_ns);
  void ApplyThreadEvents(int64_t now_ns);
  void ApplyEvent(uint32_t index, Thread* thread, const ThreadEvent& event);
  void CloseForeignRanges();
  void BeginCalls(int64_t now_ns);
  void TakeStep(uint32_t thread);
  void ResolveBatch();
  void MoveInherited(int64_t now_ns);
  CpuState StateNow(int64_t now_ns) const;
  bool ReportingOutsidePython() const { return ReportingLayer() != Layer::kPython; }
  OperationIndex ReportingOperation() const;
  Layer ReportingLayer() const;
  bool IsReporting(uint32_t thread) const { return thread == scan_.reporting; }

  const ProcessTrace& process_;
  const EventSource& source_;
  const LabelRoles& roles_;
  const ThreadScan& scan_;
  const std::vector<Peer>& peers_;
  const std::vector<InheritedOperation>& inherited_;
  const Layer base_layer_;

  std::deque<Thread> threads_;
  std::vector<uint32_t> lane_thread_;
  std::vector<std::pair<int64_t, uint32_t>> queue_;  // min-heap of (time of next event, thread)
  std::vector<Timer> timers_;                        // min-heap
  CallStream calls_;
  RecordStream<ThreadOverhead> overheads_;
  std::unordered_map<uint64_t, uint32_t> range_owner_;  // of open start/end ranges

  PhaseIndex phase_ = kNoPhaseIndex;
  bool paused_ = false;
  LayerCounts adopters_;
  std::vector<LayerCounts> others_;  // by operation: threads that speak for themselves
  size_t next_inherited_ = 0;
  OperationIndex inherited_now_ = kNoOperationIndex;
  CpuState state_;

  // Of one instant.
  ThreadStep step_;
  std::vector<uint32_t> touched_;
  std::vector<ForeignEnd> foreign_ends_;
  std::vector<BegunCall> begun_;
  std::vector<PendingTransition> pending_;
  std::vector<OperationIndex> reporting_opened_;
  std::vector<OperationIndex> reporting_closed_;
  std::vector<uint32_t> changed_lanes_;
  std::vector<uint64_t> steps_;
  bool pause_seen_ = false;
  bool resume_seen_ = false;
  bool phase_changed_ = false;

  ScopeCounts counts_;
  uint64_t scopes_open_ = 0;
  uint64_t unbalanced_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_TIMELINE_H_
