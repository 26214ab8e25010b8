// SPDX-License-Identifier: Apache-2.0
//
// The replay of one process: its recorded events in order of time, each put where it comes when the
// profiler's costs are gone and a what-if holds. One pass, linear in events; holds open scopes and
// calls, what runs on the device, and recent launches.
//
//   program order   a thread goes on when it has done what it did before (replay_thread.h)
//   launch -> work  work starts no sooner after its call than it did, if that decided its start
//   stream, slots   and after what is before it in its stream and on its device (replay_device.h)
//   work -> sync    a call that waits ends when its own part is over and the work is done
//   hand-over       a thread that takes up a token goes on after the thread that offered it, one
//                   that was woken after the thread that woke it, one that found what it came for
//                   no sooner than that was there; one that is told to wait for
//                   another process goes on when that one comes there
//   other threads   begin, and go on after a wait, where the reporting thread is
//
// What lies before the span of a process of which a part was to be recorded is replayed as it was,
// so that the span begins with the threads and the device as they were.
//
// A process that opens no operation works for the one under which another process waited for it
// last. (A report is stricter: it inherits while that wait goes on. But what one of several workers
// does while another one is waited for is the same work.)
//
// One object, one caller. Several of a run are advanced in step (replay.h).
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_PROCESS_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_PROCESS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/replay/critical_path.h"
#include "analysis/replay/hand_overs.h"
#include "analysis/replay/launch_table.h"
#include "analysis/replay/own_part.h"
#include "analysis/replay/recorded_events.h"
#include "analysis/replay/replay_call_kind.h"
#include "analysis/replay/replay_costs.h"
#include "analysis/replay/replay_device.h"
#include "analysis/replay/replay_facts.h"
#include "analysis/replay/replay_scales.h"
#include "analysis/replay/replay_thread.h"
#include "analysis/replay/retimed_source.h"
#include "analysis/replay/segment_lengths.h"
#include "analysis/replay/typical_delay.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/stream_key.h"
#include "analysis/trace/thread_scan.h"
#include "proto/wake_tokens.h"

namespace gpubound {

class ProcessReplay {
 public:
  // By what a process lets another one go on that waits for it.
  struct Release {
    Moment at;
    bool was_ready = false;  // it had done so before the wait began: the wait takes its own time
    UnknownWaits waits;      // of those who let it go on
  };
  // Of the other processes, as far as they did anything since recorded |begun_ns|.
  using OthersGained = std::function<GainedTime(int64_t begun_ns)>;
  // For a wait for |peer| from recorded |begun_ns| until |time_ns|; nothing where none is known.
  using PeerRelease =
      std::function<std::optional<Release>(PeerIndex peer, int64_t begun_ns, int64_t time_ns)>;
  // Its reporting thread begins to wait for |peer| at recorded |time_ns|, under |operation|.
  using PeerAwaited =
      std::function<void(PeerIndex peer, OperationIndex operation, int64_t time_ns)>;

  struct Input {  // everything outlives the object
    const ProcessTrace* process = nullptr;
    const EventSource* source = nullptr;
    const LabelRoles* roles = nullptr;
    const CostModel* costs = nullptr;
    const WhatIf* changes = nullptr;
    PeerRelease peer_release;
    OthersGained others_gained;       // may be empty
    PeerAwaited peer_awaited;         // may be empty
    int64_t origin_ns = 0;            // of replayed times
    RetimedSource* output = nullptr;  // null: only the facts are wanted
    PathLog* path = nullptr;          // null: the critical path is not wanted
    uint32_t first_part = 0;          // of this process there
    SharedDevices* shared = nullptr;  // null: devices are its own
  };
  explicit ProcessReplay(const Input& input);

  // Recorded time of what happens next; kOpenEnded when nothing does.
  int64_t NextTime();
  // When that is in the replay, of work at least: not before that before it in its stream has ended.
  double NextMoment();
  // Replays what happens until |limit_ns|, that included; something does.
  void RunUntil(int64_t limit_ns);

  // Where its reporting thread is at recorded |time_ns|, which is no earlier than what has been
  // replayed.
  Moment At(int64_t time_ns) const;
  // |moment|, until which that thread goes on with what it does, for what follows it: the end of a
  // step of the critical path, unless the thread waits itself.
  Moment Leading(const Moment& moment) const;
  Moment LeadAt(int64_t time_ns) const { return Leading(At(time_ns)); }
  // Where it did something last.
  const Moment& Known() const;
  // When that thread did something last, in the recording; and whether it came to rest by that: it
  // waits, or is in no scope and no call. A process that has done nothing does not rest.
  int64_t LastEvent() const;
  bool IsAtRest() const;
  // By how much sooner than in the recording it is where it is, as far as no other process let it
  // go on sooner.
  double GainedItself() const;
  // Of its waits so far.
  const UnknownWaits& waits() const { return facts_; }
  // It waits itself, since recorded |time_ns| or longer.
  bool WaitsSince(int64_t time_ns) const;
  // Whether it takes over the operations of those who wait for it.
  bool Inherits() const { return !scan_.any_operation; }
  // From recorded |time_ns| on, which is no earlier than what has been replayed.
  void Inherit(OperationIndex operation, int64_t time_ns);
  // Begins at |begin|, for a process that another one of the run started.
  void BeginAt(const Moment& begin);
  // On the critical path, |before| comes before its begin.
  void BeginBehind(const Moment& before) { begin_.step = before.step; }

  // Once NextTime() is kOpenEnded.
  ReplayFacts Finish();

 private:
  static constexpr size_t kLayers = ReplayThread::kLayers;

  static bool IsInstant(const ThreadEvent& event) {
    const SlotKind kind = event.kind;
    return kind == SlotKind::kPhase || kind == SlotKind::kStep || kind == SlotKind::kCounter ||
           kind == SlotKind::kMark || kind == SlotKind::kWoken || IsFound(event) || IsWake(event);
  }

  // Kinds of events, for SegmentLengths.
  static constexpr int kKindBits = 28;
  static uint64_t KindOf(const ThreadEvent& event) {
    return uint64_t{Raw(event.label)} << 8 | static_cast<uint64_t>(event.kind);
  }
  enum class CallEdge : uint8_t { kBegin = 0x40, kEnd = 0x41 };
  static uint64_t KindOf(const ApiCall& call, CallEdge edge) {
    return uint64_t{Raw(call.label)} << 8 | static_cast<uint64_t>(edge);
  }

  // Of an event whose cost is that behind other work, which is another than usual: the time behind
  // it is then not like that behind others of its kind.
  static constexpr uint64_t kBehindWork = 0x80;
  uint64_t ChargedKind(uint64_t kind, LabelId label, int64_t since_ns) const {
    return costs_.IsBehindWork(label, since_ns) ? kind | kBehindWork : kind;
  }

  using CallKind = ReplayCallKind;
  using CallRole = ReplayCallKind::Role;
  using StreamCapture = ReplayCallKind::StreamCapture;
  enum class TimerKind : uint8_t { kCallEnds, kOverheadEnds, kCpuTimeEnds, kProbe, kSpanEnds };
  struct Timer {
    int64_t time_ns;
    TimerKind kind;
    uint32_t index;  // a thread, an open overhead or CPU time, a probe
    uint64_t sequence;
    bool operator>(const Timer& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : sequence < other.sequence;
    }
  };
  struct OpenOverhead {
    ThreadOverhead overhead;
    double shown_begun;
  };

  struct OpenCpuTime {
    CpuTime time;
    int64_t retimed_begin_ns;
  };

  // A stream waits for |record|, or else for the work of |launch|.
  struct StreamWait {
    int64_t called_ns;
    std::shared_ptr<const EventRecord> record;
    uint32_t launch;
  };

  CallKind& KindOf(LabelId label);
  const TypicalDelay& UsualOwnPartOf(const CallKind& kind) const {
    return (kind.own_part.usual().known_well() ? kind.own_part : own_part_).usual();
  }
  // Where no call has waited beyond doubt, ends of calls that are far more alike than their own
  // parts tell that most of them have.
  const TypicalDelay& UsualWakeUp(const TypicalDelay& own_part, bool copies) const {
    if (!copies && wait_wake_up_.known_well()) return wait_wake_up_;
    constexpr double kFar = 4;
    const bool alike =
        any_wake_up_.known_well() && kFar * any_wake_up_.spread() < own_part.spread();
    return !wake_up_.known_well() && alike ? any_wake_up_ : wake_up_;
  }
  OwnPart& OwnPartOf(CallKind* kind) const {
    if (!kind->own_part.told()) kind->own_part.BeginLike(own_part_);
    return kind->own_part;
  }
  static bool Waits(CallRole role) {
    return role >= CallRole::kSyncStream && role <= CallRole::kSyncCopy;
  }

  Moment EndAt(int64_t span_end_ns);
  double SteppedAt(double shown, int64_t time_ns);
  ReplayThread& ThreadAt(uint32_t thread) {
    if (thread >= threads_.size()) [[unlikely]]
      AddThreadsUntil(thread);
    return *threads_[thread];
  }
  void AddThreadsUntil(uint32_t thread);
  ReplayThread& Started(uint32_t index, int64_t time_ns) {
    ReplayThread& thread = ThreadAt(index);
    if (!thread.started) [[unlikely]]
      Start(index, time_ns);
    return thread;
  }
  void Start(uint32_t index, int64_t time_ns);
  static bool FindNextEvent(ReplayThread* thread);
  void SetTimer(int64_t time_ns, TimerKind kind, uint32_t index);
  void RunTimer();
  void RunThread(int64_t limit_ns, int64_t others_ns);
  void QueueAgain(uint32_t thread);
  void ApplyEvent(uint32_t index, ReplayThread* thread, ThreadEvent event);
  void BeginScope(ReplayThread* thread, const ThreadEvent& event);
  void EndScope(uint32_t index, ReplayThread* thread, const ThreadEvent& event);
  void EndWaitScope(uint32_t index, ReplayThread* thread, const OpenScope& scope, int64_t time_ns);
  double MovedBy(const ReplayThread& thread) const;
  bool FollowReporting(ReplayThread* thread, int64_t time_ns);
  bool WaitsUnseen(uint32_t index, const ReplayThread& thread, int64_t time_ns) const;
  void HandOver(uint32_t index, ReplayThread* thread, const ThreadEvent& event);
  void BeWoken(uint32_t index, ReplayThread* thread, const ThreadEvent& event);
  void BeLetGo(uint32_t index, ReplayThread* thread, const HandOvers::Offer& offer, double delay,
               int64_t time_ns);
  static bool WaitsForPeer(const ReplayThread& thread);
  void ComeFor(uint32_t index, ReplayThread* thread, const ThreadEvent& event);
  void NoteActs(ReplayThread* thread);
  void NoteWhatOthersDid(int64_t begun_ns, double length_ns);
  void NoteOwnDoings(ReplayThread* thread, double length_ns);
  bool IsUnrecorded(int64_t begun_ns, int64_t ended_ns) const;
  void WaitForUnrecordedWork(uint32_t index, ReplayThread* thread, int64_t begun_ns,
                             int64_t ended_ns);
  void EndSyncScope(uint32_t index, ReplayThread* thread, const OpenScope& scope,
                    const ThreadEvent& event);
  // Without a measured model nothing is removed, what records tell included.
  bool RemovesRecorded() const { return costs_.removes(); }
  void BeginOverhead();
  void ChargeRecorded(uint32_t index, ReplayThread* thread, const Overhead& overhead);
  void EndOverhead(uint32_t index);
  void BeginCpuTime();
  void EndCpuTime(uint32_t index);
  static bool IsInner(const ReplayThread& thread, const ApiCall& call);
  void BeginCall();
  void EndCall(uint32_t index, ReplayThread* thread, const ReplayThread::OpenCall& open);
  void EndWaitingCall(uint32_t index, ReplayThread* thread, const ReplayThread::OpenCall& open,
                      CallKind* kind);
  bool MergeLaunch(ReplayThread* thread, const ReplayThread::OpenCall& open);
  void NoteEndOfCapture(ReplayThread* thread);
  DoneWork WaitedFor(ReplayThread* thread, const ApiCall& call, CallRole role);
  std::optional<Sync> SyncOf(const ApiCall& call);
  void NoteStreamCapture(uint32_t index, const ApiCall& call, StreamCapture capture);
  void NoteEventCall(ReplayThread* thread, const ApiCall& call);
  void ApplyStreamWaits(const DeviceWork& work, const LaunchEntry* launched);
  void BeginWork();
  void Begin(DeviceWork work);
  LaunchAnchor AnchorOf(const DeviceWork& work, LaunchEntry* launch);
  void Remember(const ThreadCall& of);
  void IndexCallsUntil(int64_t until_ns);
  int64_t NextCallTime() const;
  void Charge(uint32_t index, ReplayThread* thread, const Spent& spent, uint64_t kind);
  void NoteWaited(uint32_t index, ReplayThread* thread);
  OperationIndex OperationOf(const ReplayThread& thread) const {
    OperationIndex operation = thread.operation();
    if (operation == kNotOne && thread.adopts && scan_.reporting < threads_.size()) {
      operation = threads_[scan_.reporting]->operation();
    }
    return operation == kNotOne ? inherited_ : operation;
  }
  std::pair<OperationIndex, Layer> CellOf(const ReplayThread& thread) const {
    Layer layer = thread.scopes.layer();
    const bool works_for_leader = thread.adopts && StartedLeader() != &thread;
    if (layer == Layer::kUnset) layer = works_for_leader ? Layer::kNative : base_layer_;
    if (!thread.calls.empty()) layer = Layer::kCudaApi;
    return {OperationOf(thread), layer};
  }
  // Notes in which operation and layer the thread's time passes from now on.
  void EnterCell(ReplayThread* thread) {
    const auto [operation, layer] = CellOf(*thread);
    const size_t cell = operation * kLayers + static_cast<size_t>(layer);
    const bool began = thread->cell % kLayers == static_cast<size_t>(Layer::kUnset);
    if (cell != thread->cell && !began) EndStep(thread);
    thread->cell = cell;
    // A wait lasts as long as what it waits for.
    thread->pays_overdue = layer != Layer::kWait && layer != Layer::kCudaSync;
    SetFactor(thread, operation, layer);
  }
  // Of the time that passes from now on.
  void SetFactor(ReplayThread* thread, OperationIndex operation, Layer layer) {
    const bool is_before = thread->at_ns < process_.span_begin_ns;
    thread->factor = is_before ? 1 : scales_.Of(operation, layer);
  }
  CostNoise& NoiseOf(const ReplayThread& thread);
  // Of a thread that has not begun.
  size_t NoCell() const {
    return size_t{kNoOperationIndex} * kLayers + static_cast<size_t>(base_layer_);
  }
  static bool IsInWait(size_t cell) { return cell % kLayers == static_cast<size_t>(Layer::kWait); }
  // |moment| as the end of a step in |cell|.
  Moment EndOfStep(Moment moment, size_t cell) const {
    if (in_.path != nullptr) moment.step = in_.path->Add(moment.step, PathPartOf(cell), moment.at);
    return moment;
  }
  uint32_t PathPartOf(size_t cell) const {
    return in_.first_part + static_cast<uint32_t>(cell / kLayers * kPathColumns + cell % kLayers);
  }
  // What the thread has done until now is its own, whatever comes behind it.
  void EndStep(ReplayThread* thread) {
    if (in_.path != nullptr) AddStep(thread);
  }
  void AddStep(ReplayThread* thread);
  // The reporting thread, but the main one before that begins and once it has ended; null: none.
  const ReplayThread* StartedLeader() const {
    const bool started = leader_ < threads_.size() && threads_[leader_]->started;
    return started ? threads_[leader_].get() : nullptr;
  }
  int64_t Retimed(double at) const { return in_.origin_ns + Rounded(at); }
  bool IsReporting(uint32_t thread) const { return thread == scan_.reporting; }
  bool IsLeader(uint32_t thread) const { return thread == leader_; }
  uint32_t MainThread() const;
  void Lead(uint32_t thread);
  void FollowMainThread();
  void Arrive(uint32_t index, ReplayThread* thread, int64_t time_ns, uint64_t kind);
  void Move(ReplayThread* thread, int64_t time_ns, uint64_t kind);
  void JoinAdopters(ReplayThread* reporting, int64_t time_ns);
  static bool IsParked(const ReplayThread& thread, int64_t time_ns);
  bool IsInFramework(const ReplayThread& reporting) const;
  bool GoesOnFor(const ReplayThread& thread) const;

  const Input in_;
  const ProcessTrace& process_;
  const LabelRoles& roles_;
  const ReplayCosts costs_;
  const ReplayScales scales_;
  const ThreadScan scan_;
  uint32_t leader_ = MainThread();
  const Layer base_layer_;

  std::vector<std::unique_ptr<ReplayThread>> threads_;
  std::vector<ReplayThread*> acted_;  // but for the reporting one; see ReplayThread::acted
  std::vector<std::pair<int64_t, uint32_t>> queue_;  // min-heap of (time of next event, thread)
  std::vector<Timer> timers_;                        // min-heap
  uint64_t next_sequence_ = 0;
  RecordStream<ThreadCall> calls_;
  std::deque<ThreadCall> ahead_;  // calls that are indexed and have not begun
  RecordStream<ThreadOverhead> overheads_;
  RecordStream<DeviceWork> work_;
  RecordStream<CpuTime> cpu_times_;  // none where nothing is written
  RecordStream<Sync> syncs_;
  std::unordered_map<uint32_t, OpenOverhead> open_overheads_;
  std::unordered_map<uint32_t, OpenCpuTime> open_cpu_times_;
  HandOvers hand_overs_;
  HandOvers wakes_;
  UsualWakeUps usual_wake_ups_;
  LaunchTable launches_;
  ReplayDevice device_;
  SegmentLengths lengths_;
  std::unordered_map<uint32_t, Sync> open_syncs_;  // by correlation, of calls that are open
  std::set<uint32_t> capturing_threads_;
  std::unordered_map<uint64_t, StreamId> stream_ids_;  // by context and stream
  RecordedEvents recorded_events_;
  std::unordered_map<uint32_t, std::deque<StreamWait>> stream_waits_;  // by stream
  std::optional<WorkClasses> work_classes_;                            // for the critical path

  std::vector<CallKind> call_kinds_;  // by label
  OwnPart own_part_;                  // of any other call
  TypicalDelay wake_up_;       // from the end of work to the end of the call that waits for it
  TypicalDelay any_wake_up_;   // ... of calls that may have ended by themselves
  TypicalDelay wait_wake_up_;  // ... but for copies, behind which data has to get to its place
  Moment begin_;
  OperationIndex inherited_ = kNoOperationIndex;
  double moved_by_others_ = 0;          // by how much other processes let the leader come sooner
  std::vector<Interval> unknown_gpu_;   // by time
  int64_t adopters_at_ns_ = INT64_MIN;  // when a thread that adopts did something last
  std::optional<Moment> ended_;         // where a span ends behind which the trace goes on
  std::optional<size_t> last_cell_;
  ReplayFacts facts_;
  UnknownWaits waits_at_step_;  // as of the last step
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_PROCESS_H_
