// SPDX-License-Identifier: Apache-2.0
//
// Windows of all threads. One object, one caller.
#include "analysis/timeline/process_timeline.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// A window holds about so many calls, unless more begin at one instant.
constexpr size_t kMostCalls = 8192;

}  // namespace

ProcessTimeline::ProcessTimeline(const Input& input)
    : process_(*input.process),
      source_(*input.source),
      roles_(*input.roles),
      rules_(roles_),
      scan_(*input.scan),
      peers_(*input.peers),
      inherited_(*input.inherited),
      base_layer_(input.process->python ? Layer::kPython : Layer::kNative),
      counts_(process_, roles_.operations().size()),
      calls_(source_.Calls()),
      overheads_(source_.Overheads()),
      next_cpu_times_(source_.CpuTimes()),
      next_seen_stacks_(source_.StackLooks()),
      numbers_(process_) {
  reporting_ = Doing(kNotOne, base_layer_, IdleCause::kUnknown, kNotOne);
  for (uint32_t t = 0; t < process_.threads.size(); ++t) ThreadAt(t);
  state_ = CpuStateOf(phase_, OwnDoing(reporting_, process_.span_begin_ns < scan_.started_ns));
}

int64_t ProcessTimeline::NextTime() {
  int64_t next_ns = roster_.NextTime();
  for (const uint32_t t : roster_.awake()) next_ns = std::min(next_ns, threads_[t]->NextTime());
  if (calls_.Peek() != nullptr) next_ns = std::min(next_ns, calls_.Peek()->call.start_ns);
  if (overheads_.Peek() != nullptr) {
    next_ns = std::min(next_ns, overheads_.Peek()->overhead.start_ns);
  }
  if (next_cpu_times_.Peek() != nullptr) {
    next_ns = std::min(next_ns, next_cpu_times_.Peek()->start_ns);
  }
  if (next_seen_stacks_.Peek() != nullptr) {
    next_ns = std::min(next_ns, next_seen_stacks_.Peek()->start_ns);
  }
  next_ns = std::min(next_ns, blocked_.NextTime());
  if (next_inherited_ < inherited_.size()) {
    const InheritedOperation& next = inherited_[next_inherited_];
    next_ns = std::min(next_ns, inherited_now_ != kNoOperationIndex ? next.end_ns : next.begin_ns);
  }
  return next_ns;
}

int64_t ProcessTimeline::Open(int64_t begin_ns, int64_t end_ns) {
  MoveInherited(begin_ns);
  if (begin_ns < kOpenEnded - kLongestWindowNs) {
    end_ns = std::min(end_ns, begin_ns + kLongestWindowNs);
  }
  end_ns = WakeAndLimit(begin_ns, end_ns);
  if (next_inherited_ < inherited_.size()) {
    const InheritedOperation& next = inherited_[next_inherited_];
    end_ns = std::min(end_ns, inherited_now_ != kNoOperationIndex ? next.end_ns : next.begin_ns);
  }
  if (begin_ns < scan_.started_ns) end_ns = std::min(end_ns, scan_.started_ns);
  end_ns = TakeCalls(begin_ns, end_ns);
  TakeOverheads(end_ns);
  cpu_times_.clear();
  TakeCpuTimes(end_ns);
  seen_stacks_.clear();
  TakeSeenStacks(end_ns);
  return end_ns;
}

int64_t ProcessTimeline::TakeCalls(int64_t begin_ns, int64_t end_ns) {
  size_t taken = 0;
  for (const ThreadCall* next = calls_.Peek(); next != nullptr; next = calls_.Peek()) {
    const int64_t needed_until_ns =
        std::max(next->call.start_ns, INT64_MIN + kClockSlackNs) - kClockSlackNs;
    if (needed_until_ns >= end_ns) break;
    if (++taken > kMostCalls && needed_until_ns > begin_ns) return needed_until_ns;
    const LabelRole& role = roles_.Of(next->call.label);
    ThreadAt(next->thread)
        .AddCall(next->call, call_index_.Add(*next, role.api_class, role.launches));
    int64_t& first_ns = FirstCallOf(next->thread);
    first_ns = std::min(first_ns, next->call.start_ns);
    ExpectAnew(next->thread);
    calls_.Pop();
  }
  return end_ns;
}

void ProcessTimeline::TakeOverheads(int64_t end_ns) {
  for (const ThreadOverhead* next = overheads_.Peek(); next != nullptr; next = overheads_.Peek()) {
    const Interval time{next->overhead.start_ns, next->overhead.end_ns};
    if (time.begin_ns >= end_ns) return;
    const LabelRole& role = roles_.Of(next->overhead.label);
    if (!time.empty()) {
      if (role.command_buffer_full) {
        ThreadAt(next->thread).AddWait(time);
        ExpectAnew(next->thread);
      } else if (role.compiles) {
        ThreadAt(next->thread).AddCompile(time);
        ExpectAnew(next->thread);
      }
    }
    overheads_.Pop();
  }
}

// The thread that it is of; none: one of which nothing else is known.
std::optional<uint32_t> ProcessTimeline::ThreadOf(uint32_t tid, int64_t time_ns) {
  const uint32_t known = numbers_.Find(tid, time_ns);
  if (known != kNotOne) return known;
  const std::vector<uint32_t> further = source_.FurtherThreads();
  const auto found = std::find(further.begin(), further.end(), tid);
  if (found == further.end()) return std::nullopt;
  return static_cast<uint32_t>(process_.threads.size() + (found - further.begin()));
}

void ProcessTimeline::TakeCpuTimes(int64_t end_ns) {
  // A thread that is busy for less is one that looks whether there is something to do.
  constexpr int64_t kBusyOutOf = 2;
  for (const CpuTime* next = next_cpu_times_.Peek(); next != nullptr;
       next = next_cpu_times_.Peek()) {
    const CpuTime time = *next;
    if (time.start_ns >= end_ns) return;
    next_cpu_times_.Pop();
    const Interval stretch{time.start_ns, time.end_ns};
    const Interval inside = stretch.ClippedTo({process_.span_begin_ns, process_.span_end_ns});
    if (inside.empty()) continue;
    total_cpu_time_.on_cpu_ns += time.on_cpu_ns;
    total_cpu_time_.ready_ns += time.ready_ns.value_or(0);
    total_cpu_time_.knows_ready &= time.ready_ns.has_value();
    const std::optional<uint32_t> thread = ThreadOf(time.tid, time.end_ns);
    if (!thread) continue;
    cpu_times_.push_back({*thread, time});
    if (*thread == scan_.reporting) {
      if (time.IsBlocked()) blocked_.AddBlocked(stretch);
    } else if (Adopts(*thread) && FirstCallOf(*thread) <= time.start_ns &&
               time.on_cpu_ns * kBusyOutOf >= stretch.length()) {
      blocked_.AddBusy(stretch);
    }
  }
}

void ProcessTimeline::TakeSeenStacks(int64_t end_ns) {
  for (const StackLooks* next = next_seen_stacks_.Peek(); next != nullptr;
       next = next_seen_stacks_.Peek()) {
    if (next->start_ns >= end_ns) return;
    if (ThreadOf(next->tid, next->end_ns) == scan_.reporting) seen_stacks_.push_back(*next);
    next_seen_stacks_.Pop();
  }
}

// An asynchronous copy of pageable memory does not return before the copy is done.
void ProcessTimeline::CopyBegins(const DeviceWork& work, const IndexedCall& call) {
  const Interval wait{std::max(work.start_ns, call.start_ns), std::min(work.end_ns, call.end_ns)};
  if (wait.empty()) return;
  ThreadAt(call.thread).AddWait(wait);
  ExpectAnew(call.thread);
}

void ProcessTimeline::TakeUntil(int64_t end_ns) {
  TakeCalls(end_ns, end_ns);
  TakeOverheads(end_ns);
  TakeCpuTimes(end_ns);
  TakeSeenStacks(end_ns);
}

void ProcessTimeline::Run(int64_t begin_ns, int64_t end_ns) {
  while (WakeBefore(end_ns)) continue;  // calls and waits were added
  roster_.Order();
  found_.Clear();
  BeginLanes();
  RunFirstInstant(begin_ns);
  first_changes_ = found_.changes.size();
  // First the reporting thread: what it does says whom the others help.
  if (scan_.reporting != kNotOne) reporting_ = threads_[scan_.reporting]->doing();
  const Doing reporting = reporting_;
  std::span<const ThreadChange> changes;
  if (scan_.reporting != kNotOne) changes = RunThread(scan_.reporting, end_ns);
  TakeReporting(begin_ns, end_ns, reporting, changes);
  for (const uint32_t t : roster_.awake()) {
    if (t == scan_.reporting) continue;
    const ThreadTimeline& thread = *threads_[t];
    const Doing at_begin = thread.doing();
    refinement_.Add(thread.adopts(), at_begin, RunThread(t, end_ns));
  }
  roster_.ForEachRest(
      [this](const ThreadRoster::Rest& rest) { refinement_.Add(rest.adopts, rest.doing, {}); });
  LetSleep(begin_ns, end_ns);
  ResolveAdoption(reporting);
  doing_at_begin_ = refinement_.Resolve(&changes_);
  state_ = CpuStateOf(phase_, changes_.empty() ? doing_at_begin_ : changes_.back().doing);
}

// What the lanes of the last window did, they do from now on.
void ProcessTimeline::BeginLanes() {
  for (const uint32_t lane : awake_lanes_) {
    const uint32_t thread = lanes_[lane].thread;
    lanes_[lane] = {thread, InOwnLane(thread)};
  }
  awake_lanes_.clear();
}

// Valid until the next thread runs.
std::span<const ThreadChange> ProcessTimeline::RunThread(uint32_t thread, int64_t end_ns) {
  const size_t first = found_.changes.size();
  const uint32_t lane = lane_of_[thread];
  if (lane != kNotOne) lanes_[lane].at_begin = InOwnLane(thread);
  threads_[thread]->RunUntil(end_ns, inherited_now_);
  const size_t count = found_.changes.size() - first;
  if (lane != kNotOne) {
    lanes_[lane].first_change = first;
    lanes_[lane].changes = count;
    lanes_[lane].awake = true;
    awake_lanes_.push_back(lane);
  }
  return std::span(found_.changes).subspan(first, count);
}

// |starting|: nothing has begun yet.
inline Doing ProcessTimeline::OwnDoing(const Doing& reporting, bool starting) const {
  Doing own = reporting;
  if (own.operation() == kNotOne) own = own.WithOperation(inherited_now_);
  const bool simulates =
      own.cause() == IdleCause::kWaiting && own.peer() != kNotOne && peers_[own.peer()].simulates;
  if (simulates) own = own.With(own.layer(), IdleCause::kSimulation);
  if (starting && !SaysAll(own.cause())) own = own.With(own.layer(), IdleCause::kStartUp);
  return own;
}

namespace {

// Blocked there; what says more than that it waits goes on saying it.
Doing Waiting(const Doing& own) {
  const bool native = own.layer() == Layer::kNative || own.layer() == Layer::kBackend;
  if (!native) return own;
  const bool says_more = SaysAll(own.cause()) || own.cause() == IdleCause::kStartUp ||
                         own.cause() == IdleCause::kSimulation;
  return own.With(Layer::kWait, says_more ? own.cause() : IdleCause::kWaiting);
}

// |own|, where the stretches of |blocked| are waits. What holds at the window's end goes on until
// the next one.
void AddWaits(std::span<const ThreadChange> own, std::span<const Interval> blocked,
              int64_t window_end_ns, PlainList<ThreadChange>* all) {
  ThreadChange* next = all->Room(own.size() + 2 * blocked.size());
  auto stretch = blocked.begin();
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t end_ns = i + 1 < own.size() ? own[i + 1].time_ns : window_end_ns;
    int64_t now_ns = own[i].time_ns;
    for (; stretch != blocked.end() && stretch->begin_ns < end_ns; ++stretch) {
      if (stretch->begin_ns > now_ns) *next++ = {now_ns, own[i].doing};
      now_ns = std::max(now_ns, stretch->begin_ns);
      *next++ = {now_ns, Waiting(own[i].doing)};
      now_ns = std::min(stretch->end_ns, end_ns);
      if (stretch->end_ns > end_ns) break;
    }
    if (now_ns < end_ns) *next++ = {now_ns, own[i].doing};
  }
  all->AddUntil(next);
}

}  // namespace

void ProcessTimeline::TakeReporting(int64_t begin_ns, int64_t end_ns, const Doing& at_begin,
                                    std::span<const ThreadChange> changes) {
  const bool starting = begin_ns < scan_.started_ns;
  reporting_changes_ = changes.size();
  own_.clear();
  ThreadChange* own = own_.Room(changes.size() + 1);
  *own++ = {begin_ns, OwnDoing(at_begin, starting)};
  for (const ThreadChange& change : changes) {
    *own++ = {change.time_ns, OwnDoing(change.doing, starting)};
  }
  own_.AddUntil(own);
  if (!changes.empty()) reporting_ = changes.back().doing;
  const std::span<const Interval> blocked = blocked_.Open(begin_ns, end_ns);
  if (!blocked.empty()) {
    own_with_waits_.clear();
    AddWaits(own_, blocked, end_ns, &own_with_waits_);
    std::swap(own_, own_with_waits_);
  }
  refinement_.Open(own_, starting);
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

// The instant at which threads concern each other: all of them in step.
void ProcessTimeline::RunFirstInstant(int64_t now_ns) {
  first_.clear();
  for (const uint32_t t : roster_.awake()) {
    if (threads_[t]->NextTime() > now_ns) continue;
    threads_[t]->EndAndOpen(now_ns, inherited_now_);
    first_.push_back(t);
  }
  CloseForeignRanges(now_ns);
  NoteProcessEvents();
  for (const uint32_t t : first_) threads_[t]->CallAndSettle(now_ns);
}

void ProcessTimeline::CloseForeignRanges(int64_t now_ns) {
  for (const WindowFindings::ForeignEnd& end : found_.foreign_ends) {
    for (const uint32_t t : roster_.awake()) {
      if (t == end.thread || !threads_[t]->CloseRange(end.range, now_ns)) continue;
      if (std::find(first_.begin(), first_.end(), t) == first_.end()) first_.push_back(t);
      break;
    }
  }
}

void ProcessTimeline::NoteProcessEvents() {
  steps_.clear();
  bool pause_seen = false;
  bool resume_seen = false;
  for (const WindowFindings::ProcessEvent& found : found_.process_events) {
    const PhaseIndex phase = roles_.Of(found.event.label).phase;
    switch (found.event.kind) {
      case SlotKind::kPhase:
        if (phase == kNotOne) break;
        phase_ = phase;
        break;
      case SlotKind::kStep:
        steps_.push_back(found.event.payload);
        break;
      case SlotKind::kPause:
        pause_seen = true;
        break;
      default:
        resume_seen = true;
        break;
    }
  }
  // A pause and a resume of one instant, by whichever threads, leave recording on.
  if (pause_seen) paused_ = true;
  if (resume_seen) paused_ = false;
}

// |reporting|: what that thread was after the window's first instant.
void ProcessTimeline::ResolveAdoption(const Doing& reporting) {
  const ThreadChange* const begin = found_.changes.data() + first_changes_;
  const ThreadChange* const end = begin + reporting_changes_;
  const ThreadChange* next = begin;
  int64_t last_ns = INT64_MIN;
  // The reporting thread at the end of an instant; each thread asks in order of time.
  const auto reporting_at = [&](int64_t now_ns) -> const Doing& {
    if (now_ns < last_ns) next = begin;
    last_ns = now_ns;
    while (next != end && next->time_ns <= now_ns) ++next;
    return next == begin ? reporting : (next - 1)->doing;
  };
  for (const WindowFindings::AdoptedCall& adopted : found_.calls) {
    const Doing& at = reporting_at(adopted.time_ns);
    IndexedCall* call = call_index_.At(adopted.call);
    if (call == nullptr) continue;
    call->operation = at.layer() != Layer::kPython ? OperationOf(at) : kNoOperationIndex;
  }
  for (const AdoptedTransition& adopted : found_.transitions) {
    const Doing& at = reporting_at(adopted.time_ns);
    const bool adoption = at.layer() != Layer::kPython;
    OperationIndex operation = adopted.operation;
    Layer from = adopted.from;
    if (operation == kNotOne) operation = adoption ? OperationOf(at) : kNoOperationIndex;
    if (from == Layer::kUnset) from = adoption ? at.layer() : base_layer_;
    if (adopted.to <= from) continue;
    const bool counts = counts_.AddTransition(operation, from, adopted.to, adopted.time_ns);
    const bool own = adopted.operation != kNotOne;
    if (counts && !own && operation != kNoOperationIndex) ++doubtful_.adopted;
  }
}

std::vector<OperationCounts> ProcessTimeline::Finish() {
  for (const auto& thread : threads_) {
    const bool ended = roles_.Of(thread->innermost()).ends_thread;
    doubtful_.open_at_end += thread->scopes_open() - (ended ? 1 : 0);
    doubtful_.unbalanced += thread->unbalanced();
  }
  return counts_.Finish();
}

}  // namespace gpubound
