// SPDX-License-Identifier: Apache-2.0
//
// Merges the threads of a process into one CPU side. One object, one caller.
//
// An instant, in order: calls, waits and compilations end; waits and compilations begin; scopes
// open and close, thread by thread; ranges are closed by other threads; calls begin, and those
// without length end.
#include "analysis/process_timeline.h"

#include <algorithm>
#include <functional>

namespace gpubound {
namespace {

constexpr bool IsNamed(IdleCause cause) {
  return cause == IdleCause::kCheckpoint || cause == IdleCause::kCompile;
}

}  // namespace

ProcessTimeline::ProcessTimeline(const Input& input)
    : process_(*input.process),
      source_(*input.source),
      roles_(*input.roles),
      scan_(*input.scan),
      peers_(*input.peers),
      inherited_(*input.inherited),
      base_layer_(input.process->python ? Layer::kPython : Layer::kNative),
      calls_(input.source->Calls(), &roles_),
      overheads_(input.source->Overheads()),
      others_(roles_.operations().size()),
      counts_({process_.span_begin_ns, std::max(process_.span_begin_ns, process_.span_end_ns)},
              roles_.operations().size()) {
  for (uint32_t t = 0; t < process_.threads.size(); ++t) {
    Thread& thread = ThreadAt(t);
    thread.cursor = source_.ThreadEvents(t);
    Queue(t);
  }
  state_ = StateNow(process_.span_begin_ns);
}

ProcessTimeline::Thread& ProcessTimeline::ThreadAt(uint32_t thread) {
  // A thread of which only calls were recorded may turn up at any time.
  while (threads_.size() <= thread) {
    const auto t = static_cast<uint32_t>(threads_.size());
    const bool adopts = !IsReporting(t) && (t >= scan_.annotates.size() || !scan_.annotates[t]);
    // Of a thread that only makes calls nothing is known in between; it may well be asleep.
    Thread& added =
        threads_.emplace_back(ThreadState(&roles_, adopts ? Layer::kUnset : base_layer_));
    added.adopts = adopts;
    if (t < scan_.lane.size() && scan_.lane[t]) {
      added.lane = static_cast<uint32_t>(lane_thread_.size());
      lane_thread_.push_back(t);
    }
    if (IsReporting(t)) continue;
    added.share_layer = added.state.layer();
    Contribute(added, +1);
  }
  return threads_[thread];
}

bool ProcessTimeline::FetchEvent(Thread* thread) {
  while (thread->next_event >= thread->batch.events.size()) {
    if (!thread->cursor->Next(&thread->batch)) return false;
    thread->next_event = 0;
  }
  return true;
}

void ProcessTimeline::Queue(uint32_t thread) {
  Thread& queued = threads_[thread];
  if (!FetchEvent(&queued)) return;
  queue_.emplace_back(queued.batch.events[queued.next_event].time_ns, thread);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

int64_t ProcessTimeline::NextTime() {
  int64_t next_ns = queue_.empty() ? kOpenEnded : queue_.front().first;
  if (!timers_.empty()) next_ns = std::min(next_ns, timers_.front().time_ns);
  next_ns = std::min(next_ns, calls_.NextTime());
  if (overheads_.Peek() != nullptr) {
    next_ns = std::min(next_ns, overheads_.Peek()->overhead.start_ns);
  }
  if (next_inherited_ < inherited_.size()) {
    const InheritedOperation& next = inherited_[next_inherited_];
    next_ns = std::min(next_ns, inherited_now_ != kNoOperationIndex ? next.end_ns : next.begin_ns);
  }
  return next_ns;
}

void ProcessTimeline::Advance() {
  const int64_t now_ns = NextTime();
  begun_.clear();
  pending_.clear();
  reporting_opened_.clear();
  reporting_closed_.clear();
  changed_lanes_.clear();
  steps_.clear();
  pause_seen_ = resume_seen_ = phase_changed_ = false;

  MoveInherited(now_ns);
  RunTimers(now_ns);
  BeginOverheads(now_ns);
  ApplyThreadEvents(now_ns);
  CloseForeignRanges();
  BeginCalls(now_ns);
  RunTimers(now_ns);
  // A pause and a resume of one instant, by whichever threads, leave recording on.
  if (pause_seen_) paused_ = true;
  if (resume_seen_) paused_ = false;
  counts_.Note(reporting_opened_, reporting_closed_, now_ns);
  Untouch();
  ResolveBatch();
  state_ = StateNow(now_ns);
}

void ProcessTimeline::SetTimer(int64_t time_ns, TimerKind kind, uint32_t thread) {
  timers_.push_back({time_ns, kind, thread});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

CallNumber ProcessTimeline::WorkBegins(const DeviceWork& work) {
  calls_.LookAhead(work.start_ns + kClockSlackNs);
  const CallNumber number = calls_.index().Find(work);
  const IndexedCall* call = calls_.index().At(number);
  if (call == nullptr || call->api_class != ApiClass::kAsyncCopy) return number;
  // An asynchronous copy of pageable memory does not return before the copy is done.
  const int64_t begin_ns = std::max(work.start_ns, call->start_ns);
  const int64_t end_ns = std::min(work.end_ns, call->end_ns);
  if (begin_ns < end_ns) {
    SetTimer(begin_ns, TimerKind::kWaitBegins, call->thread);
    SetTimer(end_ns, TimerKind::kWaitEnds, call->thread);
  }
  return number;
}

void ProcessTimeline::Touch(uint32_t index) {
  Thread& thread = ThreadAt(index);
  if (thread.touched) return;
  thread.touched = true;
  touched_.push_back(index);
  if (!IsReporting(index)) Contribute(thread, -1);
}

void ProcessTimeline::Untouch() {
  for (const uint32_t index : touched_) {
    Thread& thread = threads_[index];
    thread.touched = false;
    if (IsReporting(index)) continue;
    const OperationIndex own = thread.state.operation();
    thread.share_operation = own == kNotOne ? kNoOperationIndex : own;
    thread.share_layer = thread.state.layer();
    thread.share_cause = thread.state.cause();
    Contribute(thread, +1);
    if (thread.lane != kNotOne && !phase_changed_) changed_lanes_.push_back(thread.lane);
  }
  touched_.clear();
  if (!phase_changed_) return;
  for (uint32_t lane = 0; lane < lane_thread_.size(); ++lane) changed_lanes_.push_back(lane);
}

void ProcessTimeline::Contribute(const Thread& thread, int sign) {
  LayerCounts& counts = thread.adopts ? adopters_ : others_[thread.share_operation];
  counts.Add(thread.share_layer, thread.share_cause, sign);
}

void ProcessTimeline::RunTimers(int64_t now_ns) {
  while (!timers_.empty() && timers_.front().time_ns <= now_ns) {
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    const Timer timer = timers_.back();
    timers_.pop_back();
    Touch(timer.thread);
    ThreadState& state = threads_[timer.thread].state;
    switch (timer.kind) {
      case TimerKind::kCallEnds:
        state.EndCalls(now_ns);
        break;
      case TimerKind::kWaitBegins:
        state.EnterWait();
        break;
      case TimerKind::kWaitEnds:
        state.LeaveWait();
        break;
      case TimerKind::kCompileEnds:
        state.LeaveCompile();
        break;
    }
  }
}

void ProcessTimeline::BeginOverheads(int64_t now_ns) {
  for (const ThreadOverhead* next = overheads_.Peek(); next != nullptr; next = overheads_.Peek()) {
    const Overhead& overhead = next->overhead;
    if (overhead.start_ns > now_ns) break;
    const LabelRole& role = roles_.Of(overhead.label);
    if (overhead.end_ns > now_ns) {
      if (role.command_buffer_full) {
        Touch(next->thread);
        threads_[next->thread].state.EnterWait();
        SetTimer(overhead.end_ns, TimerKind::kWaitEnds, next->thread);
      } else if (role.compiles) {
        Touch(next->thread);
        threads_[next->thread].state.EnterCompile();
        SetTimer(overhead.end_ns, TimerKind::kCompileEnds, next->thread);
      }
    }
    overheads_.Pop();
  }
}

void ProcessTimeline::ApplyThreadEvents(int64_t now_ns) {
  while (!queue_.empty() && queue_.front().first <= now_ns) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const uint32_t index = queue_.back().second;
    queue_.pop_back();
    Touch(index);
    Thread& thread = threads_[index];
    do {
      if (thread.next_event == 0 && thread.batch.resync) {
        thread.state.Resync(thread.batch.open, &step_);
        thread.batch.resync = false;
      }
      ApplyEvent(index, &thread, thread.batch.events[thread.next_event++]);
    } while (FetchEvent(&thread) && thread.batch.events[thread.next_event].time_ns <= now_ns);
    TakeStep(index);
    Queue(index);
  }
}

void ProcessTimeline::ApplyEvent(uint32_t index, Thread* thread, const ThreadEvent& event) {
  switch (event.kind) {
    case SlotKind::kPhase: {
      const PhaseIndex phase = roles_.Of(event.label).phase;
      if (phase == kNotOne) return;
      phase_ = phase;
      phase_changed_ = true;
      return;
    }
    case SlotKind::kStep:
      steps_.push_back(event.payload);
      return;
    case SlotKind::kPause:
      pause_seen_ = true;
      return;
    case SlotKind::kResume:
      resume_seen_ = true;
      return;
    case SlotKind::kRangeStart:
      range_owner_[event.payload] = index;
      break;
    default:
      break;
  }
  if (thread->state.Apply(event, &step_)) {
    if (event.kind == SlotKind::kRangeEnd) range_owner_.erase(event.payload);
  } else {
    foreign_ends_.push_back({index, event.payload});
  }
}

void ProcessTimeline::CloseForeignRanges() {
  for (const ForeignEnd& end : foreign_ends_) {
    const auto owner = range_owner_.find(end.range);
    if (owner == range_owner_.end() || owner->second == end.thread) continue;
    const uint32_t thread = owner->second;
    range_owner_.erase(owner);
    Touch(thread);
    threads_[thread].state.CloseRange(end.range, &step_);
    TakeStep(thread);
  }
  foreign_ends_.clear();
}

void ProcessTimeline::BeginCalls(int64_t now_ns) {
  while (calls_.NextTime() <= now_ns) {
    const CallStream::NumberedCall next = calls_.Pop();
    const uint32_t index = next.call.thread;
    Touch(index);
    ThreadState& state = threads_[index].state;
    begun_.push_back({next.number, index, state.operation()});
    state.BeginCall(next.call.call, &step_);
    SetTimer(std::max(now_ns, next.call.call.end_ns), TimerKind::kCallEnds, index);
    TakeStep(index);
  }
}

void ProcessTimeline::TakeStep(uint32_t thread) {
  for (const ThreadStep::Transition& transition : step_.transitions) {
    pending_.push_back({thread, transition});
  }
  if (IsReporting(thread)) {
    reporting_opened_.insert(reporting_opened_.end(), step_.opened.begin(), step_.opened.end());
    reporting_closed_.insert(reporting_closed_.end(), step_.closed.begin(), step_.closed.end());
  }
  step_.Clear();
}

void ProcessTimeline::ResolveBatch() {
  if (begun_.empty() && pending_.empty()) return;
  const bool adoption = ReportingOutsidePython();
  // What a thread without an operation of its own works for.
  const auto lent = [&](uint32_t thread) {
    // Not what the reporting thread has opened since, at the same instant: it came later.
    if (IsReporting(thread)) return inherited_now_;
    return adoption && threads_[thread].adopts ? ReportingOperation() : kNoOperationIndex;
  };
  for (const BegunCall& begun : begun_) {
    IndexedCall* call = calls_.index().At(begun.number);
    if (call == nullptr) continue;
    call->operation = begun.own_operation != kNotOne ? begun.own_operation : lent(begun.thread);
  }
  for (const PendingTransition& pending : pending_) {
    OperationIndex operation = pending.transition.operation;
    Layer from = pending.transition.from;
    if (operation == kNotOne) operation = lent(pending.thread);
    if (from == Layer::kUnset) {
      from = adoption && threads_[pending.thread].adopts ? ReportingLayer() : base_layer_;
    }
    if (pending.transition.to <= from) continue;
    counts_.AddTransition(operation, from, pending.transition.to);
  }
}

void ProcessTimeline::MoveInherited(int64_t now_ns) {
  if (next_inherited_ < inherited_.size() && inherited_[next_inherited_].end_ns <= now_ns) {
    inherited_now_ = kNoOperationIndex;
    ++next_inherited_;
  }
  if (next_inherited_ < inherited_.size() && inherited_[next_inherited_].begin_ns <= now_ns) {
    inherited_now_ = inherited_[next_inherited_].operation;
  }
}

CpuState ProcessTimeline::StateNow(int64_t now_ns) const {
  CpuState state;
  state.phase = phase_;
  state.operation = ReportingOperation();
  state.layer = ReportingLayer();
  if (scan_.reporting != kNotOne) {
    const ThreadState& reporting = threads_[scan_.reporting].state;
    state.cause = reporting.cause();
    state.peer = reporting.peer();
  }
  if (state.cause == IdleCause::kWaiting && state.peer != kNotOne && peers_[state.peer].simulates) {
    state.cause = IdleCause::kSimulation;
  }
  // A thread that works deeper than the reporting one says where the time goes, and why.
  const IdleCause own_cause = state.cause;
  if (ReportingOutsidePython()) {
    adopters_.Refine(&state.layer, &state.cause);
    others_[state.operation].Refine(&state.layer, &state.cause);
  }
  if (IsNamed(own_cause)) state.cause = own_cause;
  if (now_ns < scan_.started_ns && !IsNamed(state.cause)) state.cause = IdleCause::kStartUp;
  return state;
}

CpuState ProcessTimeline::LaneState(size_t lane) const {
  const ThreadState& state = threads_[lane_thread_[lane]].state;
  CpuState result;
  result.phase = phase_;
  result.operation = state.operation() == kNotOne ? kNoOperationIndex : state.operation();
  result.layer = state.layer();
  result.cause = state.cause();
  result.peer = state.peer();
  return result;
}

OperationIndex ProcessTimeline::ReportingOperation() const {
  if (scan_.reporting == kNotOne) return inherited_now_;
  const OperationIndex own = threads_[scan_.reporting].state.operation();
  return own == kNotOne ? inherited_now_ : own;
}

Layer ProcessTimeline::ReportingLayer() const {
  return scan_.reporting == kNotOne ? base_layer_ : threads_[scan_.reporting].state.layer();
}

std::vector<OperationCounts> ProcessTimeline::Finish() {
  for (const Thread& thread : threads_) {
    scopes_open_ += thread.state.scopes_open();
    unbalanced_ += thread.state.unbalanced();
  }
  return counts_.Finish();
}

}  // namespace gpubound
