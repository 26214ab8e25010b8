// SPDX-License-Identifier: Apache-2.0
//
// The pass over time and the program order of threads; calls and device work are in
// replay_calls.cc, threads that wait for others in replay_waits.cc. One object, one caller.
#include "analysis/replay/replay_process.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace gpubound {

ProcessReplay::ProcessReplay(const Input& input)
    : in_(input),
      process_(*input.process),
      roles_(*input.roles),
      costs_(process_, *input.costs),
      scales_(process_, roles_.operations(), *input.changes),
      scan_(ScanThreads(process_, *input.source, roles_)),
      base_layer_(process_.python ? Layer::kPython : Layer::kNative),
      calls_(input.source->Calls()),
      overheads_(input.source->Overheads()),
      work_(input.source->Work()),
      cpu_times_(input.output == nullptr ? std::make_unique<NoRecords<CpuTime>>()
                                         : input.source->CpuTimes()),
      syncs_(input.source->Syncs()),
      device_(process_, input.path, input.shared) {
  begin_.at = static_cast<double>(process_.BegunNs() - in_.origin_ns);
  for (const std::string& name : roles_.operations()) facts_.operations.push_back({name, {}});
  facts_.unknown = process_.unknown;
  for (const UnknownInterval& unknown : process_.unknown) {
    unknown_gpu_.push_back({unknown.start_ns, unknown.end_ns});
  }
  unknown_gpu_ = Union(std::move(unknown_gpu_));
  for (const Label& label : process_.labels) call_kinds_.push_back(CallKind::Of(label));
  call_kinds_.emplace_back();  // of ids that no row describes
  if (in_.path != nullptr) {
    work_classes_.emplace(process_);
  }
  for (uint32_t id = 1; id < process_.streams.size(); ++id) {
    const Stream& stream = process_.streams[id];
    stream_ids_.emplace(StreamKey(stream.context, stream.stream), static_cast<StreamId>(id));
  }
  for (uint32_t t = 0; t < process_.threads.size(); ++t) {
    ReplayThread& thread = ThreadAt(t);
    thread.cursor = in_.source->ThreadEvents(t);
    if (FindNextEvent(&thread)) queue_.emplace_back(thread.NextEvent().time_ns, t);
  }
  std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
  if (process_.span_end == SpanEnd::kAsked) {
    SetTimer(process_.span_end_ns, TimerKind::kSpanEnds, 0);
  }
  for (uint32_t i = 0; i < facts_.unknown.size(); ++i) {
    const UnknownInterval& unknown = facts_.unknown[i];
    if (unknown.start_ns >= process_.BegunNs() && unknown.start_ns < kOpenEnded) {
      SetTimer(unknown.start_ns, TimerKind::kProbe, 2 * i);
    }
    if (unknown.end_ns >= process_.BegunNs() && unknown.end_ns < process_.span_end_ns) {
      SetTimer(unknown.end_ns, TimerKind::kProbe, 2 * i + 1);
    }
  }
}

void ProcessReplay::BeginAt(const Moment& begin) { begin_ = begin; }

void ProcessReplay::AddThreadsUntil(uint32_t thread) {
  while (threads_.size() <= thread) {
    const auto t = static_cast<uint32_t>(threads_.size());
    ReplayThread& added = *threads_.emplace_back(std::make_unique<ReplayThread>());
    added.adopts = !IsReporting(t) && (t >= scan_.annotates.size() || !scan_.annotates[t]);
  }
}

// A thread begins where the reporting thread is: nothing tells who started it, and when, unless its
// first event does (BeWoken()).
void ProcessReplay::Start(uint32_t index, int64_t time_ns) {
  ReplayThread& thread = *threads_[index];
  const bool leads = StartedLeader() == nullptr && (IsReporting(index) || IsLeader(index));
  thread.started = thread.begins = true;
  if (leads) {
    thread.BeginAt(begin_, process_.BegunNs());
    moved_by_others_ = MovedBy(thread);
  } else {
    thread.BeginAt(LeadAt(time_ns), time_ns);
    thread.moved_before = MovedBy(thread);
  }
  if (IsReporting(index)) Lead(index);
  thread.owed.Resize(facts_.operations.size());
  EnterCell(&thread);
}

Moment ProcessReplay::At(int64_t time_ns) const {
  if (const ReplayThread* const reporting = StartedLeader()) return reporting->At(time_ns);
  return begin_.After(static_cast<double>(time_ns - process_.BegunNs()));
}

Moment ProcessReplay::Leading(const Moment& moment) const {
  const ReplayThread* const reporting = StartedLeader();
  const size_t cell = reporting == nullptr ? NoCell() : reporting->cell;
  return IsInWait(cell) ? moment : EndOfStep(moment, cell);
}

int64_t ProcessReplay::NextTime() {
  int64_t next_ns = queue_.empty() ? kOpenEnded : queue_.front().first;
  if (!timers_.empty()) next_ns = std::min(next_ns, timers_.front().time_ns);
  next_ns = std::min(next_ns, NextCallTime());
  if (overheads_.Peek() != nullptr) {
    next_ns = std::min(next_ns, overheads_.Peek()->overhead.start_ns);
  }
  if (work_.Peek() != nullptr) next_ns = std::min(next_ns, work_.Peek()->start_ns);
  if (cpu_times_.Peek() != nullptr) next_ns = std::min(next_ns, cpu_times_.Peek()->start_ns);
  return next_ns;
}

double ProcessReplay::NextMoment() {
  const int64_t next_ns = NextTime();
  const double moment = At(next_ns).at;
  const DeviceWork* const work = work_.Peek();
  if (work == nullptr || work->start_ns > next_ns) return moment;
  return std::max(moment, device_.StreamDone(work->stream, next_ns).done.at);
}

// Of one instant: what ends, then scopes, then what begins on the host, then what it launched.
void ProcessReplay::RunUntil(int64_t limit_ns) {
  for (;;) {
    const int64_t timer_ns = timers_.empty() ? kOpenEnded : timers_.front().time_ns;
    const int64_t event_ns = queue_.empty() ? kOpenEnded : queue_.front().first;
    const ThreadOverhead* const overhead = overheads_.Peek();
    const int64_t overhead_ns = overhead == nullptr ? kOpenEnded : overhead->overhead.start_ns;
    const int64_t call_ns = NextCallTime();
    const DeviceWork* const work = work_.Peek();
    const int64_t work_ns = work == nullptr ? kOpenEnded : work->start_ns;
    const CpuTime* const cpu = cpu_times_.Peek();
    const int64_t cpu_ns = cpu == nullptr ? kOpenEnded : cpu->start_ns;
    const int64_t others_ns = std::min({timer_ns, overhead_ns, call_ns, work_ns, cpu_ns});
    const int64_t next_ns = std::min(event_ns, others_ns);
    if (next_ns > limit_ns || next_ns == kOpenEnded) return;
    if (timer_ns == next_ns) {
      RunTimer();
    } else if (event_ns == next_ns) {
      RunThread(limit_ns, others_ns);
    } else if (overhead_ns == next_ns) {
      BeginOverhead();
    } else if (call_ns == next_ns) {
      BeginCall();
    } else if (work_ns == next_ns) {
      BeginWork();
    } else {
      BeginCpuTime();
    }
  }
}

void ProcessReplay::SetTimer(int64_t time_ns, TimerKind kind, uint32_t index) {
  timers_.push_back({time_ns, kind, index, next_sequence_++});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void ProcessReplay::RunTimer() {
  std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
  const Timer timer = timers_.back();
  timers_.pop_back();
  switch (timer.kind) {
    case TimerKind::kCallEnds: {
      ReplayThread& thread = ThreadAt(timer.index);
      size_t ending = thread.calls.size() - 1;  // nested calls end innermost first
      while (ending > 0 && thread.calls[ending].call.end_ns > timer.time_ns) --ending;
      const ReplayThread::OpenCall call = thread.calls[ending];
      thread.calls.erase(thread.calls.begin() + static_cast<std::ptrdiff_t>(ending));
      EndCall(timer.index, &thread, call);
      break;
    }
    case TimerKind::kOverheadEnds:
      EndOverhead(timer.index);
      break;
    case TimerKind::kCpuTimeEnds:
      EndCpuTime(timer.index);
      break;
    case TimerKind::kSpanEnds:
      ended_ = EndAt(timer.time_ns);
      break;
    case TimerKind::kProbe: {
      UnknownInterval& unknown = facts_.unknown[timer.index / 2];
      (timer.index % 2 == 0 ? unknown.start_ns : unknown.end_ns) = Retimed(At(timer.time_ns).at);
      break;
    }
  }
}

// False at the end of its events.
bool ProcessReplay::FindNextEvent(ReplayThread* thread) {
  while (thread->next_event >= thread->batch.events.size()) {
    if (!thread->cursor->Next(&thread->batch)) return false;
    thread->next_event = 0;
  }
  return true;
}

// The events of the thread whose turn it is, until something else is due: of others at |others_ns|.
void ProcessReplay::RunThread(int64_t limit_ns, int64_t others_ns) {
  const auto [first_ns, index] = queue_.front();
  for (size_t child = 1; child < std::min<size_t>(queue_.size(), 3); ++child) {
    others_ns = std::min(others_ns, queue_[child].first);
  }
  const int64_t until_ns =
      std::max(first_ns, std::min(limit_ns, others_ns == kOpenEnded ? others_ns : others_ns - 1));
  ReplayThread& thread = Started(index, first_ns);
  if (thread.next_event == 0 && thread.batch.resync) {
    Arrive(index, &thread, first_ns, 0);
    thread.scopes.Clear();
    for (const LabelId label : thread.batch.open) {
      BeginScope(&thread, {first_ns, 0, label, SlotKind::kBegin});
    }
    EnterCell(&thread);
    if (in_.output != nullptr) in_.output->AddResync(index, thread.batch.open);
  }
  while (thread.next_event < thread.batch.events.size() && thread.NextEvent().time_ns <= until_ns) {
    ApplyEvent(index, &thread, thread.batch.events[thread.next_event++]);
  }
  QueueAgain(index);
}

// The thread in front has had its turn.
void ProcessReplay::QueueAgain(uint32_t thread) {
  if (!FindNextEvent(threads_[thread].get())) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    queue_.pop_back();
    return;
  }
  // It goes down to its place: half of what to take it out and put it in again would take.
  const std::pair<int64_t, uint32_t> moved{threads_[thread]->NextEvent().time_ns, thread};
  size_t place = 0;
  for (size_t child = 1; child < queue_.size(); child = 2 * place + 1) {
    if (child + 1 < queue_.size() && queue_[child + 1] < queue_[child]) ++child;
    if (moved <= queue_[child]) break;
    queue_[place] = queue_[child];
    place = child;
  }
  queue_[place] = moved;
}

// Lets time pass until |time_ns|, when an event of |kind| happens on the thread.
void ProcessReplay::Move(ReplayThread* thread, int64_t time_ns, uint64_t kind) {
  const ReplayThread::Charged charged = thread->charged;
  const auto length = static_cast<double>(time_ns - thread->at_ns);
  const bool whole = charged.variance > 0 && charged.from_ns == thread->at_ns;
  thread->MoveBy(
      whole ? lengths_.Likely(charged.kind << kKindBits ^ kind, length, charged.variance) : length,
      time_ns);
}

void ProcessReplay::ApplyEvent(uint32_t index, ReplayThread* thread, ThreadEvent event) {
  const int64_t time_ns = event.time_ns;
  const int64_t since_ns = time_ns - thread->at_ns;
  switch (event.kind) {
    case SlotKind::kEnd:
    case SlotKind::kRangeEnd:
      EndScope(index, thread, event);
      break;
    case SlotKind::kAdopt: {
      if (IsFound(event)) {
        ComeFor(index, thread, event);
        break;
      }
      const HandOvers::Offer* const offer = hand_overs_.Find(event.payload);
      const bool follows = offer != nullptr && offer->time_ns >= thread->at_ns;
      if (follows) {
        const auto delay = static_cast<double>(time_ns - offer->time_ns);
        thread->WaitFor(offer->at.After(delay), time_ns, thread->shown);
      }
      Arrive(index, thread, time_ns, KindOf(event));
      if (offer != nullptr && !follows) thread->WaitFor(offer->at, time_ns, thread->shown);
      break;
    }
    case SlotKind::kHandOver:
      HandOver(index, thread, event);
      break;
    case SlotKind::kWoken:
      BeWoken(index, thread, event);
      break;
    default:
      Arrive(index, thread, time_ns, KindOf(event));
      break;
  }
  thread->begins = false;
  if (in_.output != nullptr) {
    event.time_ns = thread->order.OfEvent(Retimed(thread->shown));
    in_.output->AddEvent(index, event);
    event.time_ns = time_ns;
  }
  if (event.kind == SlotKind::kBegin || event.kind == SlotKind::kRangeStart) {
    BeginScope(thread, event);
    EnterCell(thread);
    if (IsLeader(index) && roles_.Of(event.label).ends_thread) FollowMainThread();
    const PeerIndex peer = roles_.Of(event.label).peer;
    if (peer != kNotOne && in_.peer_awaited && IsReporting(index)) {
      in_.peer_awaited(peer, OperationOf(*thread), event.time_ns);
    }
    Charge(index, thread, costs_.AfterBegin(event.label, since_ns),
           ChargedKind(KindOf(event), event.label, since_ns));
  } else if (event.kind == SlotKind::kEnd || event.kind == SlotKind::kRangeEnd) {
    EnterCell(thread);
    Charge(index, thread, costs_.AfterEnd(event.label, since_ns),
           ChargedKind(KindOf(event), event.label, since_ns));
  } else if (IsInstant(event)) {
    if (event.kind == SlotKind::kStep && time_ns >= process_.span_begin_ns) {
      const bool begins =
          BeginsIterations(event.kind, event.payload) || facts_.steps.times().empty();
      facts_.steps.Add(SteppedAt(thread->shown, time_ns), begins);
      if (!begins) facts_.iteration_waits.AddNoted(waits_at_step_, facts_);
      waits_at_step_ = facts_;
      if (time_ns <= process_.span_end_ns) facts_.stepped_ns = time_ns;
    }
    Charge(index, thread, costs_.AfterInstant(), KindOf(event));
  }
}

void ProcessReplay::BeginScope(ReplayThread* thread, const ThreadEvent& event) {
  const LabelRole& role = roles_.Of(event.label);
  OpenScope scope;
  scope.label = event.label;
  scope.is_range = event.kind == SlotKind::kRangeStart;
  scope.range = event.payload;
  scope.operation = role.operation;
  scope.layer = role.layer;
  scope.peer = role.peer;
  scope.begun_ns = event.time_ns;
  thread->scopes.Open(scope);
}

void ProcessReplay::EndScope(uint32_t index, ReplayThread* thread, const ThreadEvent& event) {
  OpenScope* const scope = thread->scopes.FindEnded(event);
  const bool innermost = scope != nullptr && scope == &thread->scopes.top();
  if (scope != nullptr && costs_.IsOwnOverhead(event.label) && RemovesRecorded()) {
    const auto length_ns = static_cast<double>(event.time_ns - scope->begun_ns);
    const double cost_ns = std::max(0.0, length_ns - costs_.AfterBegin(event.label).ns);
    Charge(index, thread, {cost_ns, 0, 0, cost_ns}, KindOf(event));
  }
  const Layer layer = innermost ? scope->layer : Layer::kUnset;
  if (layer == Layer::kWait) {
    EndWaitScope(index, thread, *scope, event.time_ns);
  } else if (layer == Layer::kCudaSync) {
    EndSyncScope(index, thread, *scope, event);
  } else {
    Arrive(index, thread, event.time_ns, KindOf(event));
  }
  if (scope != nullptr) thread->scopes.Close(scope);
}

void ProcessReplay::Charge(uint32_t index, ReplayThread* thread, const Spent& spent,
                           uint64_t kind) {
  const bool is_nothing = spent.ns == 0 && spent.variance == 0 && spent.error == 0;
  if (is_nothing || thread->at_ns < process_.span_begin_ns) return;
  thread->Charge(spent, kind);
  facts_.removed_ns += spent.ns;
  facts_.removed.variance += spent.variance;
  facts_.removed.error += spent.error;
  if (!IsReporting(index)) return;
  CostNoise& row = NoiseOf(*thread);
  row.variance += spent.variance;
  row.error += spent.row_error;
}

// Of the row in which the reporting thread's time passes.
CostNoise& ProcessReplay::NoiseOf(const ReplayThread& thread) {
  OperationIndex row = thread.operation();
  if (row == kNotOne) row = kNoOperationIndex;
  return facts_.operations[row].noise;
}

void ProcessReplay::AddStep(ReplayThread* thread) {
  thread->now = EndOfStep(thread->now, thread->cell);
  if (thread->guessed) thread->certain = EndOfStep(thread->certain, thread->cell);
}

void ProcessReplay::Inherit(OperationIndex operation, int64_t time_ns) {
  if (operation == inherited_) return;
  inherited_ = operation;
  for (const std::unique_ptr<ReplayThread>& of : threads_) {
    ReplayThread& thread = *of;
    if (!thread.started) continue;
    const auto [now_for, layer] = CellOf(thread);
    const bool waits = layer == Layer::kWait || layer == Layer::kCudaSync;
    // What it did until now was for somebody else; in a wait or a call that changes nothing.
    const bool changes = scales_.Of(now_for, layer) != thread.factor;
    if (changes && !waits && thread.calls.empty()) {
      Move(&thread, std::max(time_ns, thread.at_ns), 0);
    }
    EnterCell(&thread);
  }
}

}  // namespace gpubound
