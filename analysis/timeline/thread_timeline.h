// SPDX-License-Identifier: Apache-2.0
//
// One thread of a process, window by window: merges its events, its calls and the stretches in
// which it waits or compiles, and says how its state changes. What depends on other threads is left
// to the process (process_timeline.h) as findings. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_TIMELINE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_TIMELINE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/plain_list.h"
#include "analysis/timeline/call_index.h"
#include "analysis/timeline/doing.h"
#include "analysis/timeline/lane_scopes.h"
#include "analysis/timeline/scope_counts.h"
#include "analysis/timeline/state_rules.h"
#include "analysis/timeline/thread_change.h"
#include "analysis/timeline/thread_state.h"
#include "analysis/timeline/thread_stream.h"
#include "analysis/timeline/thread_tally.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// What the threads of a process did in a window, beside scopes and calls of their own.
struct WindowFindings {
  // A call began by a thread that adopts and had no operation.
  struct AdoptedCall {
    int64_t time_ns;
    CallNumber call;
  };
  // A phase, step, pause or resume; at the window's begin only.
  struct ProcessEvent {
    uint32_t thread;
    ThreadEvent event;
  };
  struct ForeignEnd {
    uint32_t thread;
    uint64_t range;
  };
  PlainList<ThreadChange> changes;  // thread by thread, each in order of time
  std::vector<AdoptedCall> calls;   // likewise
  std::vector<AdoptedTransition> transitions;
  std::vector<ProcessEvent> process_events;
  std::vector<ForeignEnd> foreign_ends;
  void Clear() {
    changes.clear();
    calls.clear();
    transitions.clear();
    process_events.clear();
    foreign_ends.clear();
  }
};

class ThreadTimeline {
 public:
  struct Input {  // everything outlives the object
    const StateRules* rules = nullptr;
    uint32_t thread = 0;
    bool reports = false;
    bool adopts = false;
    Layer base = Layer::kUnset;
    CallIndex* calls = nullptr;
    ScopeCounts* counts = nullptr;
    LaneScopes* lane = nullptr;  // null: none
    WindowFindings* findings = nullptr;
  };
  ThreadTimeline(const Input& input, ThreadStream events);

  ThreadStream& events() { return events_; }

  // In order of begin, before the window that they begin in.
  void AddCall(const ApiCall& call, CallNumber number) {
    calls_.push({call.start_ns, call.end_ns, number, call.label});
    next_call_ns_ = calls_.front().start_ns;
  }
  // Time inside API calls is a wait for the device; the thread compiles. Before the window.
  void AddWait(const Interval& time) { AddTimers(time, TimerKind::kWaitBegins); }
  void AddCompile(const Interval& time) { AddTimers(time, TimerKind::kCompileBegins); }

  // The next instant at which something happens.
  int64_t NextTime() const {
    return std::min(std::min(events_.NextTime(), next_call_ns_), NextEnd());
  }

  // All that happens before |end_ns|. What has no operation of its own works for |inherited| if it
  // reports.
  void RunUntil(int64_t end_ns, OperationIndex inherited) {
    tally_.Inherit(inherited);
    for (;;) {
      const int64_t call_ns = next_call_ns_;
      const int64_t call_end_ns = NextEnd();
      const int64_t now_ns = std::min(std::min(call_ns, call_end_ns), end_ns);
      RunEventsAlone(now_ns);
      if (now_ns == end_ns) return;
      tally_.SetNow(now_ns);
      // At nearly every instant one thing happens, and nothing has to be put in order.
      if (call_end_ns == now_ns) RunTimers(now_ns);
      if (events_.NextTime() <= now_ns) TakeEvents(now_ns);
      if (call_ns == now_ns) Call(now_ns);
      Settle(now_ns);
    }
  }

  // One instant in two halves, between which other threads may close a range of this one.
  void EndAndOpen(int64_t now_ns, OperationIndex inherited) {
    tally_.Inherit(inherited);
    tally_.SetNow(now_ns);
    if (NextEnd() <= now_ns) RunTimers(now_ns);
    if (events_.NextTime() <= now_ns) TakeEvents(now_ns);
  }
  bool CloseRange(uint64_t range, int64_t now_ns) {
    tally_.SetNow(now_ns);
    return state_.CloseRange(range, &tally_);
  }
  void CallAndSettle(int64_t now_ns) {
    if (next_call_ns_ <= now_ns) Call(now_ns);
    Settle(now_ns);
  }

  bool adopts() const { return in_.adopts; }

  // What holds between two instants. The object that reads is new.
  void Visit(StateArchive& archive);

  // As of the last instant. Before its first one, a thread that does not report has no layer.
  const Doing& doing() const { return doing_; }
  uint64_t scopes_open() const { return state_.scopes_open(); }
  LabelId innermost() const { return state_.innermost(); }
  uint64_t ranges_open() const { return state_.ranges_open(); }
  uint64_t unbalanced() const { return state_.unbalanced(); }

 private:
  struct PendingCall {
    int64_t start_ns;
    int64_t end_ns;
    CallNumber number;
    LabelId label;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(start_ns, end_ns, number, label);
    }
  };
  enum class TimerKind : uint8_t { kWaitEnds, kCompileEnds, kWaitBegins, kCompileBegins };
  struct Timer {
    int64_t time_ns;
    TimerKind kind;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(time_ns, kind);
    }
    bool operator>(const Timer& other) const { return time_ns > other.time_ns; }
  };

  // Those before |end_ns|, until when no call and no timer begins or ends.
  void RunEventsAlone(int64_t end_ns) {
    for (int64_t now_ns = events_.NextTime(); now_ns < end_ns; now_ns = events_.NextTime()) {
      tally_.SetNow(now_ns);
      TakeEvents(now_ns);
      Settle(now_ns);
    }
  }
  // There is one.
  void TakeEvents(int64_t now_ns) {
    do {
      if (events_.gap()) CloseGap();
      Apply(events_.Peek());
      events_.Pop();
    } while (events_.NextTime() <= now_ns);
  }
  void Call(int64_t now_ns) {
    BeginCalls(now_ns);
    if (NextEnd() <= now_ns) RunTimers(now_ns);
  }
  void Settle(int64_t now_ns) {
    if (state_.doing() == doing_) return;
    doing_ = state_.doing();
    in_.findings->changes.push_back({now_ns, doing_});
  }

  Doing BeforeBegin() const;
  int64_t NextEnd() const { return std::min(state_.next_call_end_ns(), next_timer_ns_); }
  void AddTimers(const Interval& time, TimerKind begin);
  void RunTimers(int64_t now_ns) {
    if (state_.next_call_end_ns() <= now_ns) state_.EndCalls(now_ns);
    if (next_timer_ns_ <= now_ns) RunTimersSlowPath(now_ns);
  }
  void RunTimersSlowPath(int64_t now_ns);
  void CloseGap();
  void Apply(const ThreadEvent& event) {
    if (event.kind == SlotKind::kBegin) return state_.Begin(event.label, &tally_);
    if (event.kind == SlotKind::kEnd) return state_.End(event.label, &tally_);
    ApplySlowPath(event);
  }
  void ApplySlowPath(const ThreadEvent& event);
  void BeginCalls(int64_t now_ns);

  const Input in_;
  ThreadState state_;
  ThreadTally tally_;
  ThreadStream events_;
  Fifo<PendingCall> calls_;
  int64_t next_call_ns_ = kOpenEnded;
  std::vector<Timer> timers_;  // min-heap
  int64_t next_timer_ns_ = kOpenEnded;
  Doing doing_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_TIMELINE_H_
