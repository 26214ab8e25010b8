// SPDX-License-Identifier: Apache-2.0
//
// Follows one thread. One object, one caller.
//
// An instant, in order: calls, waits and compilations end and begin; scopes open and close; ranges
// are closed by other threads; calls begin, and those without length end.
#include "analysis/timeline/thread_timeline.h"

#include <functional>
#include <utility>

namespace gpubound {

ThreadTimeline::ThreadTimeline(const Input& input, ThreadStream events)
    : in_(input),
      state_(input.rules, input.base),
      tally_({input.reports, input.adopts, input.counts, input.lane, &input.findings->transitions}),
      events_(std::move(events)) {
  doing_ = BeforeBegin();
}

// It executes nothing yet, whatever a thread of its kind executes outside all scopes.
Doing ThreadTimeline::BeforeBegin() const {
  const Doing& doing = state_.doing();
  return in_.reports ? doing : doing.With(Layer::kUnset, doing.cause());
}

void ThreadTimeline::Visit(StateArchive& archive) {
  bool begun = in_.adopts || doing_.layer() != Layer::kUnset;
  archive.All(begun, state_, calls_, timers_);
  if (!archive.reads()) return;
  next_call_ns_ = calls_.empty() ? kOpenEnded : calls_.front().start_ns;
  next_timer_ns_ = timers_.empty() ? kOpenEnded : timers_.front().time_ns;
  doing_ = begun ? state_.doing() : BeforeBegin();
}

void ThreadTimeline::CloseGap() { state_.Resync(events_.TakeGap(), &tally_); }

void ThreadTimeline::ApplySlowPath(const ThreadEvent& event) {
  switch (event.kind) {
    case SlotKind::kRangeStart:
      state_.StartRange(event.label, event.payload, &tally_);
      return;
    case SlotKind::kRangeEnd:
      if (!state_.CloseRange(event.payload, &tally_)) {
        in_.findings->foreign_ends.push_back({in_.thread, event.payload});
      }
      return;
    case SlotKind::kPhase:
    case SlotKind::kStep:
    case SlotKind::kPause:
    case SlotKind::kResume:
      in_.findings->process_events.push_back({in_.thread, event});
      return;
    case SlotKind::kBegin:
    case SlotKind::kEnd:
    case SlotKind::kCounter:
    case SlotKind::kMark:
    case SlotKind::kAdopt:  // a begin follows, if it has a label
    case SlotKind::kHandOver:
    case SlotKind::kWoken:
    case SlotKind::kUnbalanced:
      return;
  }
}

void ThreadTimeline::AddTimers(const Interval& time, TimerKind begin) {
  const TimerKind end =
      begin == TimerKind::kWaitBegins ? TimerKind::kWaitEnds : TimerKind::kCompileEnds;
  for (const Timer& timer : {Timer{time.begin_ns, begin}, Timer{time.end_ns, end}}) {
    timers_.push_back(timer);
    std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
  }
  next_timer_ns_ = timers_.front().time_ns;
}

void ThreadTimeline::RunTimersSlowPath(int64_t now_ns) {
  for (; !timers_.empty() && timers_.front().time_ns <= now_ns; timers_.pop_back()) {
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    switch (timers_.back().kind) {
      case TimerKind::kWaitBegins:
        state_.EnterWait();
        break;
      case TimerKind::kWaitEnds:
        state_.LeaveWait();
        break;
      case TimerKind::kCompileBegins:
        state_.EnterCompile();
        break;
      case TimerKind::kCompileEnds:
        state_.LeaveCompile();
        break;
    }
  }
  next_timer_ns_ = timers_.empty() ? kOpenEnded : timers_.front().time_ns;
}

void ThreadTimeline::BeginCalls(int64_t now_ns) {
  do {
    const PendingCall call = calls_.front();
    calls_.pop();
    next_call_ns_ = calls_.empty() ? kOpenEnded : calls_.front().start_ns;
    if (IndexedCall* indexed = in_.calls->At(call.number); indexed != nullptr) {
      if (state_.operation() != kNotOne) {
        indexed->operation = state_.operation();
      } else if (in_.adopts) {
        in_.findings->calls.push_back({now_ns, call.number});
      } else {
        indexed->operation = tally_.without_own();
      }
    }
    state_.BeginCall(call.label, std::max(now_ns, call.end_ns), &tally_);
  } while (next_call_ns_ <= now_ns);
}

}  // namespace gpubound
