// SPDX-License-Identifier: Apache-2.0
//
// Follows one thread. One object, one caller.
//
// An instant, in order: calls, waits and compilations end and begin; scopes open and close; ranges
// are closed by other threads; calls begin, and those without length end.
#include "analysis/thread_timeline.h"

#include <functional>
#include <utility>

namespace gpubound {

ThreadTimeline::ThreadTimeline(const Input& input, ThreadStream events)
    : in_(input), state_(input.roles, input.base), events_(std::move(events)) {
  doing_ = state_.doing();
  step_.counts = input.reports;
}

void ThreadTimeline::Visit(StateArchive& archive) {
  archive.All(state_, calls_, timers_);
  if (!archive.reads()) return;
  next_call_ns_ = calls_.empty() ? kOpenEnded : calls_.front().start_ns;
  next_timer_ns_ = timers_.empty() ? kOpenEnded : timers_.front().time_ns;
  doing_ = state_.doing();
}

void ThreadTimeline::CloseGap() { state_.Resync(events_.TakeGap(), &step_); }

void ThreadTimeline::ApplySlowPath(const ThreadEvent& event) {
  switch (event.kind) {
    case SlotKind::kRangeStart:
      state_.StartRange(event.label, event.payload, &step_);
      return;
    case SlotKind::kRangeEnd:
      if (!state_.CloseRange(event.payload, &step_)) {
        in_.findings->foreign_ends.push_back({in_.thread, event.payload});
      }
      return;
    case SlotKind::kPhase:
    case SlotKind::kStep:
    case SlotKind::kPause:
    case SlotKind::kResume:
    case SlotKind::kSuspension:
      in_.findings->process_events.push_back({in_.thread, event});
      return;
    case SlotKind::kBegin:
    case SlotKind::kEnd:
    case SlotKind::kCounter:
    case SlotKind::kMark:
    case SlotKind::kAdopt:  // a begin follows
    case SlotKind::kHandOver:
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

void ThreadTimeline::BeginCalls(int64_t now_ns, OperationIndex inherited) {
  for (; !calls_.empty() && calls_.front().start_ns <= now_ns; calls_.pop()) {
    const PendingCall& call = calls_.front();
    if (IndexedCall* indexed = in_.calls->At(call.number); indexed != nullptr) {
      if (state_.operation() != kNotOne) {
        indexed->operation = state_.operation();
      } else if (in_.adopts) {
        in_.findings->calls.push_back({now_ns, call.number});
      } else {
        indexed->operation = in_.reports ? inherited : kNoOperationIndex;
      }
    }
    state_.BeginCall(call.label, std::max(now_ns, call.end_ns), &step_);
  }
  next_call_ns_ = calls_.empty() ? kOpenEnded : calls_.front().start_ns;
}

void ThreadTimeline::NoteStep(int64_t now_ns, OperationIndex inherited) {
  step_.any = false;
  if (step_.counts) {
    in_.counts->Note(step_.opened, step_.closed, now_ns);
    step_.opened.clear();
    step_.closed.clear();
  }
  for (const ThreadStep::Transition& transition : step_.transitions) {
    CountTransition(transition, now_ns, inherited);
  }
  step_.transitions.clear();
}

inline void ThreadTimeline::CountTransition(const ThreadStep::Transition& transition,
                                            int64_t now_ns, OperationIndex inherited) {
  const bool own = transition.operation != kNotOne;
  if (in_.adopts && (!own || transition.from == Layer::kUnset)) {
    in_.findings->transitions.push_back({now_ns, transition});
    return;
  }
  const OperationIndex operation = own           ? transition.operation
                                   : in_.reports ? inherited
                                                 : kNoOperationIndex;
  in_.counts->AddTransition(operation, transition.from, transition.to, now_ns);
}

}  // namespace gpubound
