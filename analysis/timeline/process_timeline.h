// SPDX-License-Identifier: Apache-2.0
//
// The CPU side of a process (SPEC section 2): at each instant one (phase, operation, layer), told
// by the reporting thread and refined by the threads that work for it; beside it a lane for each
// further thread that annotates. One object, one caller.
//
// Time goes by in windows. Each thread that does something in a window (thread_roster.h) follows
// its own events through it (thread_timeline.h), the reporting one first; then what that one does
// is refined by what the others do (refinement.h).
//
// Whatever concerns all threads (a phase, a step, a pause, an operation that is inherited, a range
// that another thread ends) happens at a window's begin only. Memory is the windows' changes, open
// scopes and calls, the calls of the next kClockSlackNs, and a few bytes for a thread.
//
// Looks at the threads (CpuTime) say when the reporting thread was blocked. Where that is inside
// native code, and no thread that works under its operation is busy, the process waits. What begins
// and ends with a look changes nothing else: neither what threads adopt nor which transitions count.
//
// A thread that never opens an operation works under the reporting thread's (adoption) while that
// one is outside Python, so its calls cause work there.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_PROCESS_TIMELINE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_PROCESS_TIMELINE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/base/state_archive.h"
#include "analysis/timeline/blocked_time.h"
#include "analysis/timeline/call_index.h"
#include "analysis/timeline/cpu_state.h"
#include "analysis/timeline/lane_scopes.h"
#include "analysis/timeline/refinement.h"
#include "analysis/timeline/scope_counts.h"
#include "analysis/timeline/state_rules.h"
#include "analysis/timeline/thread_numbers.h"
#include "analysis/timeline/thread_roster.h"
#include "analysis/timeline/thread_timeline.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"
#include "analysis/trace/thread_scan.h"

namespace gpubound {

// An operation of another process under which that one waits for this one. A list of them is
// ascending and disjoint.
struct InheritedOperation {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  OperationIndex operation = kNoOperationIndex;
};

// Of all threads of a process, within its span.
struct TotalCpuTime {
  int64_t on_cpu_ns = 0;
  int64_t ready_ns = 0;
  bool knows_ready = true;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(on_cpu_ns, ready_ns, knows_ready);
  }
};

// What is known of where a thread was.
struct ThreadCpuTime {
  uint32_t thread = 0;
  CpuTime time;
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

  // A window, step by step. NextTime() is the next instant at which something happens here;
  // kOpenEnded when nothing does. The window may begin there or before.
  int64_t NextTime();
  // Where a window that begins at |begin_ns| has to end, at the latest at |end_ns|. Afterwards the
  // calls are known that may have launched work of the window.
  int64_t Open(int64_t begin_ns, int64_t end_ns);
  // Told of each piece of work that begins in the window, in order of begin. Says which call
  // launched it; kNoCall where none is known.
  CallNumber WorkBegins(const DeviceWork& work) {
    const CallNumber number = call_index_.Find(work);
    const IndexedCall* call = call_index_.At(number);
    if (call != nullptr && call->api_class == ApiClass::kAsyncCopy) CopyBegins(work, *call);
    return number;
  }
  // |end_ns|: as Open() said, or earlier.
  void Run(int64_t begin_ns, int64_t end_ns);

  // Takes up all that begins before |end_ns|, which the last window ended at or before, and the
  // calls of the next kClockSlackNs. Before the state is written.
  void TakeUntil(int64_t end_ns);
  // What holds between two windows. The object that reads was made for the same process, whose
  // source goes on where the object that wrote had come to; threads, labels and operations may have
  // been added behind the others.
  void Visit(StateArchive& archive);

  // Of the window: what the CPU side is after its first instant, and every change after that.
  CpuState state_at_begin() const { return CpuStateOf(phase_, doing_at_begin_); }
  const Doing& doing_at_begin() const { return doing_at_begin_; }
  const PlainList<ThreadChange>& changes() const { return changes_; }
  // What holds at its end.
  const CpuState& state() const { return state_; }
  // The same of a lane, in states of its own. In those that are not awake nothing changes.
  const std::vector<uint32_t>& awake_lanes() const { return awake_lanes_; }
  bool IsLaneAwake(size_t lane) const { return lanes_[lane].awake; }
  const Doing& LaneDoing(size_t lane) const { return lanes_[lane].at_begin; }  // at its begin
  CpuState LaneAtBegin(size_t lane) const { return StateOf(lanes_[lane].at_begin); }
  std::span<const ThreadChange> LaneChanges(size_t lane) const {
    const Lane& of = lanes_[lane];
    return std::span(found_.changes).subspan(of.first_change, of.changes);
  }
  // What the thread of a lane does, as it is booked: no lane explains an idle device.
  auto InLane() const {
    return [](const Doing& doing) {
      const bool none = doing.operation() == kNotOne;
      return doing.WithoutCause().WithOperation(none ? kNoOperationIndex : doing.operation());
    };
  }
  CpuState StateOf(const Doing& lane) const { return CpuStateOf(phase_, InLane()(lane)); }

  // Since its begin.
  PhaseIndex phase() const { return phase_; }
  bool paused() const { return paused_; }                        // recording is off
  const std::vector<uint64_t>& steps() const { return steps_; }  // iterations that end there
  // Of threads that are known, what begins in it. Since Open().
  const std::vector<ThreadCpuTime>& cpu_times() const { return cpu_times_; }
  // Likewise, of the reporting thread alone.
  const std::vector<StackLooks>& seen_stacks() const { return seen_stacks_; }
  const TotalCpuTime& total_cpu_time() const { return total_cpu_time_; }  // of all threads

  CallIndex& calls() { return call_index_; }
  size_t lanes() const { return lanes_.size(); }
  uint32_t lane_thread(size_t lane) const { return lanes_[lane].thread; }
  const LaneScopes& lane_scopes(size_t lane) const { return lane_scopes_[lane]; }
  // kNotOne where the thread is none.
  uint32_t LaneOf(uint32_t thread) const {
    return thread < lane_of_.size() ? lane_of_[thread] : kNotOne;
  }

  // Valid once NextTime() is kOpenEnded.
  std::vector<OperationCounts> Finish();  // by OperationIndex
  const DoubtfulScopes& doubtful_scopes() const { return doubtful_; }

 private:
  struct Lane {
    uint32_t thread = 0;
    Doing at_begin;
    size_t first_change = 0;
    size_t changes = 0;
    bool awake = false;
  };

  ThreadTimeline& ThreadAt(uint32_t thread) {
    // A thread of which only calls were recorded may turn up at any time.
    while (threads_.size() <= thread) AddThread();
    return *threads_[thread];
  }
  void AddThread();
  ThreadStream EventsOf(uint32_t thread) const;
  bool NeverSleeps(uint32_t thread) const;
  ThreadRoster::Sleeper SleeperOf(uint32_t thread) const;
  void EnterRoster(uint32_t thread);
  std::optional<uint32_t> WakeBefore(int64_t end_ns);
  int64_t WakeAndLimit(int64_t begin_ns, int64_t end_ns);
  void LetSleep(int64_t begin_ns, int64_t end_ns);
  void ExpectAnew(uint32_t thread) {
    if (roster_.IsAsleep(thread)) roster_.Expect(thread, threads_[thread]->NextTime());
  }
  int64_t TakeCalls(int64_t begin_ns, int64_t end_ns);
  void TakeOverheads(int64_t end_ns);
  void TakeCpuTimes(int64_t end_ns);
  void TakeSeenStacks(int64_t end_ns);
  std::optional<uint32_t> ThreadOf(uint32_t tid, int64_t time_ns);
  int64_t& FirstCallOf(uint32_t thread) {
    if (first_call_ns_.size() <= thread) first_call_ns_.resize(thread + 1, kOpenEnded);
    return first_call_ns_[thread];
  }
  void CopyBegins(const DeviceWork& work, const IndexedCall& call);
  void BeginLanes();
  // As its lane has it, from the span's begin to its end: one that has not begun does as little as
  // one that has ended. Of them the main thread is there, whenever its first event comes.
  Doing InOwnLane(uint32_t thread) const {
    const Doing& doing = threads_[thread]->doing();
    if (doing.layer() != Layer::kUnset) return doing;
    return doing.With(IsMain(thread) ? base_layer_ : Layer::kWait, doing.cause());
  }
  bool IsMain(uint32_t thread) const {
    const bool known = process_.main_tid != 0;
    return thread < process_.threads.size() &&
           process_.threads[thread].tid == (known ? process_.main_tid : process_.identity.pid);
  }
  void MoveInherited(int64_t now_ns);
  void RunFirstInstant(int64_t now_ns);
  std::span<const ThreadChange> RunThread(uint32_t thread, int64_t end_ns);
  void TakeReporting(int64_t begin_ns, int64_t end_ns, const Doing& at_begin,
                     std::span<const ThreadChange> changes);
  void CloseForeignRanges(int64_t now_ns);
  void NoteProcessEvents();
  void ResolveAdoption(const Doing& reporting);
  void JoinThreads();
  void VisitLaneScopes(StateArchive& archive);
  bool Adopts(uint32_t thread) const;
  OperationIndex OperationOf(const Doing& reporting) const {
    return reporting.operation() == kNotOne ? inherited_now_ : reporting.operation();
  }
  Doing OwnDoing(const Doing& reporting, bool starting) const;

  const ProcessTrace& process_;
  const EventSource& source_;
  const LabelRoles& roles_;
  const StateRules rules_;
  const ThreadScan& scan_;
  const std::vector<Peer>& peers_;
  const std::vector<InheritedOperation>& inherited_;
  const Layer base_layer_;

  CallIndex call_index_;
  ScopeCounts counts_;
  std::vector<std::unique_ptr<ThreadTimeline>> threads_;
  ThreadRoster roster_;
  std::vector<Lane> lanes_;
  std::deque<LaneScopes> lane_scopes_;  // by lane; they stay where they are
  std::vector<uint32_t> lane_of_;       // by thread; kNotOne where it has none
  RecordStream<ThreadCall> calls_;
  RecordStream<ThreadOverhead> overheads_;
  RecordStream<CpuTime> next_cpu_times_;
  RecordStream<StackLooks> next_seen_stacks_;
  ThreadNumbers numbers_;
  std::vector<int64_t> first_call_ns_;  // by thread; kOpenEnded: none yet
  BlockedTime blocked_;
  TotalCpuTime total_cpu_time_;
  size_t next_inherited_ = 0;
  OperationIndex inherited_now_ = kNoOperationIndex;

  // Of the window.
  WindowFindings found_;
  std::vector<uint32_t> awake_lanes_;
  std::vector<uint32_t> first_;   // threads that do something at its first instant
  size_t first_changes_ = 0;      // so many changes are of the first instant
  size_t reporting_changes_ = 0;  // so many after them are the reporting thread's
  PlainList<ThreadChange> own_;   // what the process does by the reporting thread alone
  PlainList<ThreadChange> own_with_waits_;
  Refinement refinement_;
  std::vector<uint64_t> steps_;
  std::vector<ThreadCpuTime> cpu_times_;
  std::vector<StackLooks> seen_stacks_;
  Doing doing_at_begin_;
  PlainList<ThreadChange> changes_;

  // As of the window's end.
  Doing reporting_;
  PhaseIndex phase_ = kNoPhaseIndex;
  bool paused_ = false;
  CpuState state_;

  DoubtfulScopes doubtful_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_PROCESS_TIMELINE_H_
