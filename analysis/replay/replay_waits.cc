// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for other threads and processes. One object, one caller.
#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/replay/replay_process.h"
#include "proto/wake_tokens.h"

namespace gpubound {

namespace {

// By no more a framework's call outlasts the threads that work for it: they wake its thread up.
constexpr int64_t kJoinsNs = 200'000;

// What takes less than waking a thread up was no wait: a selector that was only asked.
constexpr int64_t kNoWaitNs = 20'000;

}  // namespace

bool ProcessReplay::IsInFramework(const ReplayThread& reporting) const {
  return process_.python && !reporting.scopes.empty() && reporting.calls.empty() &&
         reporting.scopes.layer() == Layer::kBackend;
}

// Under a framework's call the reporting thread waits for the threads that work for it; no record
// says so, hence what that moves counts as uncertain too. One whose waits are scopes has things of
// its own to do, as a thread of a notebook's kernel that sleeps, looks, and sleeps.
void ProcessReplay::JoinAdopters(ReplayThread* reporting, int64_t time_ns) {
  if (!IsInFramework(*reporting)) return;
  Moment join;
  size_t cell = 0;  // of the thread that it follows
  int64_t joined_ns = INT64_MIN;
  for (const std::unique_ptr<ReplayThread>& of : threads_) {
    const ReplayThread& thread = *of;
    if (!thread.adopts || !thread.started || thread.at_ns <= reporting->at_ns) continue;
    if (thread.shows_waits) continue;
    const Moment done = thread.At(time_ns);
    if (done.at > join.at) cell = thread.cell;
    join = Later(join, done);
    joined_ns = std::max(joined_ns, thread.at_ns);
  }
  const Moment alone = reporting->At(time_ns);
  if (!join.exists() || join.at == alone.at) return;
  // What came long after them did not come because of them.
  if (join.at > alone.at && time_ns - joined_ns > kJoinsNs) return;
  join = EndOfStep(join, cell);
  // It need not have waited at all; then it would have come here on its own.
  const Moment released = Later(reporting->now, join);
  facts_.unmoved_waits_ns += std::max(0.0, alone.at - released.at);
  reporting->shown += released.at - reporting->now.at;
  reporting->now = released;
  reporting->at_ns = time_ns;
}

// Whether a thread that does not report did nothing of its own until |time_ns|: one that works for
// the reporting thread has no scope open then, any other has done nothing for long, and is in no
// operation and in no framework's or simulator's function.
bool ProcessReplay::IsParked(const ReplayThread& thread, int64_t time_ns) {
  constexpr int64_t kLongNs = 50'000;  // more than the lines of a loop between two scopes take
  if (!thread.calls.empty()) return false;
  if (thread.adopts && thread.scopes.empty()) return true;
  if (time_ns - thread.at_ns < kLongNs) return false;
  if (thread.scopes.empty()) return true;
  const Layer layer = thread.scopes.layer();
  return thread.operation() == kNotOne &&
         (layer == Layer::kUnset || layer == Layer::kPython || layer == Layer::kNative);
}

const Moment& ProcessReplay::Known() const {
  const ReplayThread* const reporting = StartedLeader();
  return reporting != nullptr ? reporting->now : begin_;
}

// The reporting one where there is no other.
uint32_t ProcessReplay::MainThread() const {
  const uint32_t main =
      process_.main_tid != 0 ? process_.main_tid : static_cast<uint32_t>(process_.identity.pid);
  for (uint32_t t = 0; t < process_.threads.size(); ++t) {
    if (process_.threads[t].tid == main) return t;
  }
  return scan_.reporting;
}

// The reporting thread has ended: nobody waits for it any more, and what follows is not where it
// is.
void ProcessReplay::FollowMainThread() {
  const uint32_t main = MainThread();
  if (main < threads_.size() && threads_[main]->started) Lead(main);
}

// From now on |thread|, which has begun, tells where the process is.
void ProcessReplay::Lead(uint32_t thread) {
  if (const ReplayThread* const before = StartedLeader()) {
    moved_by_others_ += MovedBy(*threads_[thread]) - MovedBy(*before);
  }
  leader_ = thread;
}

double ProcessReplay::GainedItself() const {
  const ReplayThread* const leader = StartedLeader();
  return leader == nullptr ? 0 : MovedBy(*leader) - moved_by_others_;
}

// How much sooner than in the recording |thread| is where it is.
double ProcessReplay::MovedBy(const ReplayThread& thread) const {
  return static_cast<double>(thread.at_ns - in_.origin_ns) - thread.now.at;
}

void ProcessReplay::NoteActs(ReplayThread* thread) {
  if (std::exchange(thread->acted, true)) return;
  acted_.push_back(thread);
}

bool ProcessReplay::FollowReporting(ReplayThread* thread, int64_t time_ns) {
  thread->gained += MovedBy(*thread) - thread->moved_before;
  const bool waits = thread->WaitForThread(Known(), LeadAt(time_ns), time_ns);
  thread->moved_before = MovedBy(*thread);
  return waits;
}

// The reporting thread waited from |begun_ns| on for nobody knows what. If it was for what another
// thread or process did until shortly before, and that takes more or less time now, it waited
// longer or shorter.
void ProcessReplay::NoteWhatOthersDid(int64_t begun_ns, double length_ns) {
  double sooner = 0;
  double later = 0;
  for (ReplayThread* const of : acted_) {
    ReplayThread& thread = *of;
    thread.acted = false;
    if (thread.at_ns <= begun_ns) continue;
    const double moved = MovedBy(thread);
    const double gained = std::exchange(thread.gained, 0) + moved - thread.moved_before;
    thread.moved_before = moved;
    sooner = std::max(sooner, gained);
    later = std::max(later, -gained);
  }
  acted_.clear();
  if (in_.others_gained && length_ns >= kNoWaitNs) {
    const GainedTime gains = in_.others_gained(begun_ns);
    sooner = std::max(sooner, gains.sooner_ns);
    later = std::max(later, gains.later_ns);
  }
  facts_.waits_sooner_ns += std::min(sooner, length_ns);
  facts_.waits_later_ns += later;
}

// The reporting thread waited until |time_ns| for any of several things, as an event loop does. If
// it was for one from outside, as an answer that it had asked for before it did something else,
// what that takes more or less now, it waits less or more.
void ProcessReplay::NoteOwnDoings(ReplayThread* thread, double length_ns) {
  if (length_ns < kNoWaitNs) return;
  const double moved = MovedBy(*thread);
  const double gained = moved - std::exchange(thread->moved_when_waited, moved);
  if (thread->woken) return;
  facts_.waits_later_ns += std::max(0.0, gained);
  facts_.waits_sooner_ns += std::clamp(-gained, 0.0, length_ns);
}

bool ProcessReplay::IsUnrecorded(int64_t begun_ns, int64_t ended_ns) const {
  const auto unknown =
      std::upper_bound(unknown_gpu_.begin(), unknown_gpu_.end(), begun_ns,
                       [](int64_t ns, const Interval& of) { return ns < of.end_ns; });
  return unknown != unknown_gpu_.end() && unknown->begin_ns < ended_ns;
}

// It waited for the GPU while device work could run unrecorded, and that keeps its length. Such
// work goes on beside what the thread does, and may be faster or slower itself.
void ProcessReplay::WaitForUnrecordedWork(uint32_t index, ReplayThread* thread, int64_t begun_ns,
                                          int64_t ended_ns) {
  const double factor = std::exchange(thread->factor, 1);
  thread->MoveTo(ended_ns);
  thread->factor = factor;
  if (!IsLeader(index)) return;
  const auto length = static_cast<double>(ended_ns - begun_ns);
  NoteOwnDoings(thread, length);
  facts_.waits_sooner_ns += length * (1 - std::min(1.0, scales_.LeastOfWork()));
  facts_.waits_later_ns += length * (std::max(1.0, scales_.MostOfWork()) - 1);
}

// Brings a thread to |time_ns| along its program order.
void ProcessReplay::Arrive(uint32_t index, ReplayThread* thread, int64_t time_ns, uint64_t kind) {
  const bool waits = WaitsUnseen(index, *thread, time_ns);
  thread->woken = false;
  if (IsLeader(index)) {
    if (adopters_at_ns_ > thread->at_ns) JoinAdopters(thread, time_ns);
    return Move(thread, time_ns, kind);
  }
  NoteActs(thread);
  if (waits) {
    FollowReporting(thread, time_ns);
  } else {
    Move(thread, time_ns, kind);
  }
  if (thread->adopts) adopters_at_ns_ = time_ns;
}

// Whether it is taken to have waited until |time_ns| for the reporting thread, as no record says.
// One whose waits are scopes does not: what it does outside of them, as the turns of an event loop,
// it does itself.
bool ProcessReplay::WaitsUnseen(uint32_t index, const ReplayThread& thread, int64_t time_ns) const {
  const bool may_wait = !IsLeader(index) && !thread.woken && !thread.shows_waits;
  return may_wait && IsParked(thread, time_ns) && !GoesOnFor(thread);
}

// For those that take up the token, or, where there is no label, those that are woken.
void ProcessReplay::HandOver(uint32_t index, ReplayThread* thread, const ThreadEvent& event) {
  const bool wakes = IsWake(event);
  // One that is only taken to come here now does not tell when it lets others go on.
  const bool tells = !wakes || !WaitsUnseen(index, *thread, event.time_ns);
  Arrive(index, thread, event.time_ns, KindOf(event));
  EndStep(thread);
  if (wakes && IsShared(event.payload)) return;  // lets threads of other processes go on
  HandOvers::Offer offer{tells ? event.time_ns : INT64_MIN, thread->now, 0};
  if (wakes) offer.slept = std::exchange(thread->slept, 0);
  if (wakes && tells && IsTime(event.payload)) {
    // Set here, it comes when it comes, whatever the thread does meanwhile.
    offer.time_ns = std::max(event.time_ns, TimeOf(event.payload));
    offer.at = offer.at.After(static_cast<double>(offer.time_ns - event.time_ns));
  }
  (wakes ? wakes_ : hand_overs_).Add(event.payload, offer);
}

// It goes on as long after the thread that woke it, or started it, as it did.
void ProcessReplay::BeWoken(uint32_t index, ReplayThread* thread, const ThreadEvent& event) {
  if (IsShared(event.payload)) return;  // by another process, which the wait says (late_ranks.h)
  const HandOvers::Offer* const offer = wakes_.Find(event.payload);
  // Whom a wait for another process is for is known.
  if (offer == nullptr || offer->time_ns == INT64_MIN || WaitsForPeer(*thread)) return;
  const auto delay = static_cast<double>(event.time_ns - offer->time_ns);
  if (thread->begins) {
    thread->BeginAt(offer->at.After(delay), event.time_ns);
    thread->moved_before = MovedBy(*thread);
  } else if (offer->time_ns < thread->at_ns) {
    return ComeFor(index, thread, event);
  } else {
    usual_wake_ups_.Of(event.payload).Add(delay);
    BeLetGo(index, thread, *offer, delay, event.time_ns);
  }
  thread->woken = true;
}

// By who made |offer|, |delay| later. One that slept before may have slept until this thread came
// so far.
void ProcessReplay::BeLetGo(uint32_t index, ReplayThread* thread, const HandOvers::Offer& offer,
                            double delay, int64_t time_ns) {
  const double before = thread->now.at;
  if (!thread->WaitFor(offer.at.After(delay), time_ns, thread->shown)) return;
  NoteWaited(index, thread);
  if (!IsLeader(index)) return;
  facts_.waits_sooner_ns += std::min(offer.slept, thread->now.at - before);
}

bool ProcessReplay::WaitsForPeer(const ReplayThread& thread) {
  return !thread.scopes.empty() && thread.scopes.top().peer != kNotOne;
}

// What it comes for was there before. Where it is not there yet, it has to wait for it now, and is
// woken up as late as is usual. In a wait for another process, as for a Pool's result, that brought
// it.
void ProcessReplay::ComeFor(uint32_t index, ReplayThread* thread, const ThreadEvent& event) {
  if (WaitsForPeer(*thread)) return;
  Arrive(index, thread, event.time_ns, KindOf(event));
  const HandOvers::Offer* const offer = wakes_.Find(event.payload);
  if (offer == nullptr || offer->time_ns == INT64_MIN) return;
  if (offer->at.at > thread->now.at) {
    BeLetGo(index, thread, *offer, usual_wake_ups_.Of(event.payload).ns(), event.time_ns);
  }
  thread->woken = true;
}

// It has worked for a call of the framework's that the reporting thread is in, and still does: one
// piece of work follows the other.
bool ProcessReplay::GoesOnFor(const ReplayThread& thread) const {
  if (!thread.adopts || scan_.reporting >= threads_.size()) return false;
  const ReplayThread& reporting = *threads_[scan_.reporting];
  return reporting.at_ns <= thread.at_ns && IsInFramework(reporting);
}

void ProcessReplay::EndWaitScope(uint32_t index, ReplayThread* thread, const OpenScope& scope,
                                 int64_t time_ns) {
  thread->shows_waits = true;
  if (IsLeader(index) && roles_.Of(scope.label).awaits_any) {
    NoteOwnDoings(thread, static_cast<double>(time_ns - scope.begun_ns));
  }
  if (thread->woken) return thread->MoveTo(time_ns);  // the rest of the wait it did itself
  std::optional<Release> release;
  if (scope.peer != kNotOne && in_.peer_release) {
    release = in_.peer_release(scope.peer, scope.begun_ns, time_ns);
  }
  if (!release && !IsLeader(index)) {
    // Who waits itself all the while lets nobody go on: it took its time, as sleep does.
    const bool sleeps = roles_.Of(scope.label).sleeps;
    if (sleeps && thread->operation() != kNotOne) {
      return thread->SleepInOperation(time_ns, LeadAt(time_ns));
    }
    if (sleeps || WaitsSince(scope.begun_ns)) {
      return thread->SleepUntil(time_ns, LeadAt(time_ns));
    }
    if (time_ns - scope.begun_ns < kNoWaitNs) return thread->MoveTo(time_ns);
    if (FollowReporting(thread, time_ns)) NoteWaited(index, thread);
    return;
  }
  if (!release || release->was_ready) {
    // Whatever it waited for, nothing says that it moved.
    thread->MoveTo(time_ns);
    const double shift = static_cast<double>(time_ns - in_.origin_ns) - thread->now.at;
    const auto length = static_cast<double>(time_ns - scope.begun_ns);
    facts_.unmoved_waits_ns += std::clamp(shift - thread->wait_shift, 0.0, length);
    thread->wait_shift = shift;
    if (!release && IsLeader(index)) NoteWhatOthersDid(scope.begun_ns, length);
  }
  if (!release) return;
  if (!IsLeader(index)) {
    if (thread->WaitFor(release->at, time_ns, thread->shown)) NoteWaited(index, thread);
    return;
  }
  const double moved = MovedBy(*thread);
  if (thread->WaitFor(release->at, time_ns, thread->shown)) NoteWaited(index, thread);
  moved_by_others_ += MovedBy(*thread) - moved;
  if (!release->was_ready) facts_.Follow(release->waits);
}

// A framework's wait for the GPU ends when the work is done that ended in it, as long after that as
// it did.
void ProcessReplay::EndSyncScope(uint32_t index, ReplayThread* thread, const OpenScope& scope,
                                 const ThreadEvent& event) {
  const DoneWork& work = device_.AllDone(event.time_ns);
  if (!work.done.exists() || work.end_ns <= std::max(scope.begun_ns, thread->at_ns)) {
    if (IsUnrecorded(scope.begun_ns, event.time_ns)) {
      return WaitForUnrecordedWork(index, thread, scope.begun_ns, event.time_ns);
    }
    return Arrive(index, thread, event.time_ns, KindOf(event));
  }
  if (!IsLeader(index)) NoteActs(thread);
  const auto wake_up = static_cast<double>(event.time_ns - work.end_ns);
  if (thread->WaitFor(work.done.After(wake_up), event.time_ns, thread->shown)) {
    NoteWaited(index, thread);
  }
}

// The wait was shorter or longer by what the thread's costs since the last one really were.
void ProcessReplay::NoteWaited(uint32_t index, ReplayThread* thread) {
  if (IsLeader(index)) {
    CostNoise& row = NoiseOf(*thread);
    row.variance += thread->noise_variance;
    row.error += thread->noise_error;
  }
  thread->noise_variance = 0;
  thread->noise_error = 0;
}

}  // namespace gpubound
