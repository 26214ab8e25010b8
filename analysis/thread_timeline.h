// SPDX-License-Identifier: Apache-2.0
//
// One thread of a process, window by window: merges its events, its calls and the stretches in
// which it waits or compiles, and says how its state changes. What depends on other threads is left
// to the process (process_timeline.h) as findings. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_
#define GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/call_index.h"
#include "analysis/doing.h"
#include "analysis/event_source.h"
#include "analysis/fifo.h"
#include "analysis/label_roles.h"
#include "analysis/plain_list.h"
#include "analysis/scope_counts.h"
#include "analysis/thread_change.h"
#include "analysis/thread_state.h"
#include "analysis/thread_stream.h"

namespace gpubound {

// What the threads of a process did in a window, beside scopes and calls of their own.
struct WindowFindings {
  // A call began, or a deeper layer was entered, by a thread that adopts and had no operation.
  struct AdoptedCall {
    int64_t time_ns;
    CallNumber call;
  };
  struct AdoptedTransition {
    int64_t time_ns;
    ThreadStep::Transition transition;
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
    const LabelRoles* roles = nullptr;
    uint32_t thread = 0;
    bool reports = false;
    bool adopts = false;
    Layer base = Layer::kUnset;
    CallIndex* calls = nullptr;
    ScopeCounts* counts = nullptr;
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
    for (;;) {
      const int64_t event_ns = events_.NextTime();
      const int64_t call_ns = next_call_ns_;
      const int64_t call_end_ns = NextEnd();
      const int64_t now_ns = std::min(std::min(event_ns, call_ns), call_end_ns);
      if (now_ns >= end_ns) return;
      // At nearly every instant one thing happens, and nothing has to be put in order.
      if (call_ns != now_ns && call_end_ns != now_ns) {
        TakeEvents(now_ns);
      } else if (event_ns != now_ns && call_ns != now_ns) {
        RunTimers(now_ns);
      } else {
        EndAndOpen(now_ns);
        Call(now_ns, inherited);
      }
      Settle(now_ns, inherited);
    }
  }

  // One instant in two halves, between which other threads may close a range of this one.
  void EndAndOpen(int64_t now_ns) {
    if (NextEnd() <= now_ns) RunTimers(now_ns);
    TakeEvents(now_ns);
  }
  bool CloseRange(uint64_t range) { return state_.CloseRange(range, &step_); }
  void CallAndSettle(int64_t now_ns, OperationIndex inherited) {
    Call(now_ns, inherited);
    Settle(now_ns, inherited);
  }

  bool adopts() const { return in_.adopts; }

  // What holds between two instants. The object that reads is new.
  void Visit(StateArchive& archive);

  // As of the last instant.
  const Doing& doing() const { return doing_; }
  uint64_t scopes_open() const { return state_.scopes_open(); }
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

  void TakeEvents(int64_t now_ns) {
    while (events_.NextTime() <= now_ns) {
      if (events_.gap()) CloseGap();
      Apply(events_.Peek());
      events_.Pop();
    }
  }
  void Call(int64_t now_ns, OperationIndex inherited) {
    if (next_call_ns_ <= now_ns) BeginCalls(now_ns, inherited);
    if (NextEnd() <= now_ns) RunTimers(now_ns);
  }
  void Settle(int64_t now_ns, OperationIndex inherited) {
    if (step_.any) NoteStep(now_ns, inherited);
    if (state_.doing() == doing_) return;
    doing_ = state_.doing();
    in_.findings->changes.push_back({now_ns, doing_});
  }

  int64_t NextEnd() const { return std::min(state_.next_call_end_ns(), next_timer_ns_); }
  void AddTimers(const Interval& time, TimerKind begin);
  void RunTimers(int64_t now_ns) {
    if (state_.next_call_end_ns() <= now_ns) state_.EndCalls(now_ns);
    if (next_timer_ns_ <= now_ns) RunTimersSlowPath(now_ns);
  }
  void RunTimersSlowPath(int64_t now_ns);
  void CloseGap();
  void Apply(const ThreadEvent& event) {
    if (event.kind == SlotKind::kBegin) return state_.Begin(event.label, &step_);
    if (event.kind == SlotKind::kEnd) return state_.End(event.label, &step_);
    ApplySlowPath(event);
  }
  void ApplySlowPath(const ThreadEvent& event);
  void BeginCalls(int64_t now_ns, OperationIndex inherited);
  void NoteStep(int64_t now_ns, OperationIndex inherited);
  void CountTransition(const ThreadStep::Transition& transition, int64_t now_ns,
                       OperationIndex inherited);

  const Input in_;
  ThreadState state_;
  ThreadStream events_;
  Fifo<PendingCall> calls_;
  int64_t next_call_ns_ = kOpenEnded;
  std::vector<Timer> timers_;  // min-heap
  int64_t next_timer_ns_ = kOpenEnded;
  ThreadStep step_;
  Doing doing_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_
