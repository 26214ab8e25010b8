// SPDX-License-Identifier: Apache-2.0
//
// API calls, the device work that they launch, and what they wait for. One object, one caller.
#include <algorithm>
#include <utility>

#include "analysis/replay/replay_process.h"
#include "analysis/timeline/call_index.h"
#include "proto/sync_types.h"

namespace gpubound {
namespace {

constexpr size_t kMostOpenSyncs = 4096;

// Work that begins so soon behind other work of its stream had been launched by then.
constexpr int64_t kQueuedNs = 10'000;

// So long after a call, and after the work of it that is known, the table of launches remembers it:
// a graph has more work, and a wait may come for what is done.
constexpr int64_t kRememberedNs = 1'000'000'000;

// So long work can lie in a queue; a launch without work since then had none, or it was lost.
constexpr int64_t kLongestInQueueNs = 60'000'000'000;

// A call that is still open after so many times what it takes by itself waits.
constexpr double kClearly = 4;

}  // namespace

ProcessReplay::CallKind& ProcessReplay::KindOf(LabelId label) {
  return call_kinds_[std::min<size_t>(Raw(label), call_kinds_.size() - 1)];
}

int64_t ProcessReplay::NextCallTime() const {
  if (!ahead_.empty()) return ahead_.front().call.start_ns;
  const ThreadCall* next = calls_.Peek();
  return next == nullptr ? kOpenEnded : next->call.start_ns;
}

// To the table of launches.
void ProcessReplay::Remember(const ThreadCall& of) {
  const int64_t now_ns = of.call.start_ns;
  launches_.Add(of.thread, of.call, [this, now_ns](const LaunchEntry& entry) {
    const int64_t since_ns = now_ns - std::max(entry.end_ns, entry.work_end_ns);
    if (since_ns < kRememberedNs) return true;
    return entry.works == 0 && KindOf(entry.label).launches && since_ns < kLongestInQueueNs;
  });
}

void ProcessReplay::IndexCallsUntil(int64_t until_ns) {
  while (calls_.Peek() != nullptr && calls_.Peek()->call.start_ns <= until_ns) {
    const ThreadCall& next = *calls_.Peek();
    Remember(next);
    ahead_.push_back(next);
    calls_.Pop();
  }
}

// Whether this is the driver's function within a runtime function that has the same id: one call of
// the program, whose cost was measured with both.
bool ProcessReplay::IsInner(const ReplayThread& thread, const ApiCall& call) {
  if (call.correlation == 0) return false;
  return std::any_of(thread.calls.begin(), thread.calls.end(), [&](const auto& open) {
    return open.call.correlation == call.correlation && call.end_ns <= open.call.end_ns;
  });
}

void ProcessReplay::BeginCall() {
  ThreadCall next;
  if (ahead_.empty()) {
    next = *calls_.Peek();
    Remember(next);
    calls_.Pop();
  } else {
    next = ahead_.front();
    ahead_.pop_front();
  }
  const ApiCall& call = next.call;
  ReplayThread& thread = Started(next.thread, call.start_ns);
  const int64_t since_ns = call.start_ns - thread.last_call_end_ns;
  Arrive(next.thread, &thread, call.start_ns, KindOf(call, CallEdge::kBegin));
  const bool charged = !IsInner(thread, call);
  LaunchEntry* const launch = launches_.Find(call.correlation);
  const bool outermost = launch != nullptr && launch->thread == next.thread &&
                         launch->start_ns == call.start_ns && launch->end_ns == call.end_ns &&
                         !launch->begun.exists();
  if (outermost) launch->begun = thread.now;
  const Spent& cost = costs_.AfterBegin(call.label, since_ns);
  thread.calls.push_back({call, thread.now, thread.shown, outermost, charged, since_ns,
                          /*unrecorded_ns=*/charged ? cost.ns : 0,
                          thread.order.OfCall(Retimed(thread.shown))});
  EnterCell(&thread);
  if (outermost) launch->operation = static_cast<uint32_t>(thread.cell / kLayers);
  if (charged) {
    Charge(next.thread, &thread, cost,
           ChargedKind(KindOf(call, CallEdge::kBegin), call.label, since_ns));
  }
  SetTimer(std::max(call.start_ns, call.end_ns), TimerKind::kCallEnds, next.thread);
}

void ProcessReplay::EndCall(uint32_t index, ReplayThread* thread,
                            const ReplayThread::OpenCall& open) {
  const ApiCall& call = open.call;
  CallKind& kind = KindOf(call.label);
  if (scales_.merges_any() && kind.ends_capture) NoteEndOfCapture(thread);
  if (!scales_.merges_any() || !MergeLaunch(thread, open)) {
    if (Waits(kind.role) || kind.role == CallRole::kAsyncCopy) {
      EndWaitingCall(index, thread, open, &kind);
    } else {
      if (open.outermost) {
        own_part_.Add(static_cast<double>(call.end_ns - call.start_ns) - open.queue_full_ns, true);
      }
      Move(thread, call.end_ns, KindOf(call, CallEdge::kEnd));
    }
    NoteStreamCapture(index, call, kind.stream_capture);
    if (kind.role == CallRole::kRecordEvent || kind.role == CallRole::kStreamWait) {
      NoteEventCall(thread, call);
    }
    if (open.outermost) {
      EndStep(thread);
      LaunchEntry* const launch = launches_.Find(call.correlation);
      if (launch != nullptr) launch->ended = thread->now;
      thread->last_launch = call.correlation;
    }
    if (in_.output != nullptr) {
      ThreadCall retimed{call, index};
      retimed.call.start_ns = open.shown_ns;
      retimed.call.end_ns = std::max(open.shown_ns, Retimed(thread->shown));
      in_.output->Add(retimed);
    }
  }
  thread->last_call_end_ns = std::max(thread->last_call_end_ns, call.end_ns);
  EnterCell(thread);
  if (open.charged) {
    Charge(index, thread, costs_.AfterEnd(call.label, open.since_ns),
           ChargedKind(KindOf(call, CallEdge::kEnd), call.label, open.since_ns));
  }
  if (thread->adopts) adopters_at_ns_ = call.end_ns;
}

std::optional<Sync> ProcessReplay::SyncOf(const ApiCall& call) {
  while (syncs_.Peek() != nullptr && syncs_.Peek()->start_ns <= call.end_ns) {
    if (open_syncs_.size() >= kMostOpenSyncs) open_syncs_.clear();  // of calls never recorded
    open_syncs_[syncs_.Peek()->correlation] = *syncs_.Peek();
    syncs_.Pop();
  }
  const auto found = open_syncs_.find(call.correlation);
  if (call.correlation == 0 || found == open_syncs_.end()) return std::nullopt;
  const Sync sync = found->second;
  open_syncs_.erase(found);
  return sync;
}

// What |call| waited for, as far as that had ended when it returned.
DoneWork ProcessReplay::WaitedFor(ReplayThread* thread, const ApiCall& call, CallRole role) {
  const auto work_of = [&](uint32_t correlation) -> DoneWork {
    const LaunchEntry* const launch = launches_.Find(correlation);
    if (launch == nullptr || launch->work_end_ns > call.end_ns) return {};
    return {launch->work_end_ns, launch->work_done};
  };
  if (role == CallRole::kSyncCopy) return work_of(call.correlation);
  if (role == CallRole::kAsyncCopy) {
    const DoneWork own = work_of(call.correlation);
    return own.end_ns > call.start_ns ? own : DoneWork{};
  }
  const std::optional<Sync> sync = SyncOf(call);
  if (role == CallRole::kSyncStream && sync && sync->type == kSyncStream) {
    const auto stream = stream_ids_.find(StreamKey(sync->context, sync->stream));
    if (stream != stream_ids_.end()) return device_.StreamDone(stream->second, call.end_ns);
  }
  if (role == CallRole::kSyncAll) {
    const bool of_context = sync && sync->type == kSyncContext;
    return of_context ? device_.ContextDone(sync->context, call.end_ns)
                      : device_.AllDone(call.end_ns);
  }
  if (role == CallRole::kSyncEvent && sync) {
    if (const EventRecord* const record = recorded_events_.Find(sync->context, sync->event)) {
      const DoneWork& behind = recorded_events_.WorkOf(*record);
      return behind.end_ns <= call.end_ns ? behind : DoneWork{};
    }
  }
  // It is not known what it waited for. If it waited, then for what ended last; otherwise for
  // nothing that could hold it up but what the thread itself had launched before.
  const DoneWork last = device_.LastEnded(call.end_ns);
  if (last.end_ns > call.start_ns) return last;
  if (role == CallRole::kSyncEvent) return work_of(thread->recorded_launch);
  return device_.StreamDone(thread->last_stream, call.end_ns);
}

// A call that waits takes its own part and then waits for the work, if that is not done by then.
// Which of the two decided its end is told by which explains it better.
void ProcessReplay::EndWaitingCall(uint32_t index, ReplayThread* thread,
                                   const ReplayThread::OpenCall& open, CallKind* kind) {
  const ApiCall& call = open.call;
  const DoneWork waited_for = WaitedFor(thread, call, kind->role);
  const bool has_work = waited_for.done.exists();
  const auto length = static_cast<double>(call.end_ns - call.start_ns);
  const double wake_up = has_work ? static_cast<double>(call.end_ns - waited_for.end_ns) : 0;
  const TypicalDelay& usual = UsualOwnPartOf(*kind);
  const bool may_wait = has_work && waited_for.end_ns > call.start_ns;
  if (!may_wait && Waits(kind->role) && IsUnrecorded(call.start_ns, call.end_ns)) {
    return WaitForUnrecordedWork(index, thread, call.start_ns, call.end_ns);
  }
  if (may_wait) any_wake_up_.Add(wake_up);
  const bool launches = kind->role == CallRole::kSyncCopy || kind->role == CallRole::kAsyncCopy;
  const TypicalDelay& usual_wake_up = UsualWakeUp(usual, launches);
  const bool waited = may_wait && ExplainsRather(usual_wake_up, wake_up, usual, length);
  // Only what is beyond doubt tells what is usual; a guess would confirm itself.
  if (waited && length - wake_up > kClearly * usual.ns()) {
    wake_up_.Add(wake_up);
    if (!launches) wait_wake_up_.Add(wake_up);
  }
  OwnPart& own_part = OwnPartOf(kind);
  const Spent cost = open.charged ? costs_.AfterBegin(call.label, open.since_ns) : Spent{};
  const double begun_at = thread->now.at;
  const bool at_begin = thread->at_ns == call.start_ns;
  double deviation = 0;  // of the call's own part
  // A copy waits for what its own part launches: the longer that took, the later its limit. What
  // that tells is told where the work starts.
  // Otherwise work may now be done before the call's own part is, and then wakes nobody up.
  const bool may_find_it_done = waited && !launches && at_begin;
  if (waited) {
    const double own_limit = length - wake_up;
    const double own_ns = own_part.MeanBelow(may_find_it_done ? own_limit : length);
    if (!launches) own_part.AddBelow(own_limit);
    thread->MoveTo(call.start_ns + Rounded(own_ns));
  } else if (kind->role == CallRole::kAsyncCopy || !at_begin) {
    Move(thread, call.end_ns, KindOf(call, CallEdge::kEnd));
  } else {
    thread->MoveBy(own_part.Likely(length, cost.variance), call.end_ns);
    deviation = own_part.DeviationOf(cost.variance);
    own_part.Add(length, waited_for.end_ns <= call.start_ns);
  }
  if (!has_work) return;
  double delay = waited ? wake_up : std::min(usual_wake_up.ns(), wake_up);
  // Work that a wait found done in the recording may keep it waiting now, and then wakes it up.
  if (!waited && !launches && wait_wake_up_.known_well()) {
    delay = waited_for.done.at > thread->now.at ? wait_wake_up_.ns() : 0;
  }
  const Moment release = may_find_it_done ? waited_for.done : waited_for.done.After(delay);
  const bool waits = release.at > thread->now.at;
  double later_by = LaterBy(thread->now.at, release.at, deviation);
  double until_wake_up = may_find_it_done && waits ? wake_up : 0;
  if (waited && at_begin && thread->factor > 0) {
    // Its own part may be longer than its mean, which shows where the work is now done before.
    const double until = (release.at - begun_at - cost.ns) / thread->factor;
    const double limit = length - wake_up - cost.ns;
    const double longer =
        thread->factor * own_part.LongerThan(until, limit, cost.ns, cost.variance);
    later_by = std::max(0.0, release.at + longer - std::max(thread->now.at, release.at));
    if (may_find_it_done) {
      until_wake_up = wake_up * own_part.ShareBelow(until, limit, cost.ns, cost.variance);
    }
  }
  later_by += until_wake_up;
  thread->WaitFor(Later(thread->now, release).After(later_by), call.end_ns, open.shown_begun);
  if (waits) NoteWaited(index, thread);
}

void ProcessReplay::NoteEventCall(ReplayThread* thread, const ApiCall& call) {
  const std::optional<Sync> sync = SyncOf(call);
  if (!capturing_threads_.empty()) return;
  if (KindOf(call.label).role == CallRole::kRecordEvent) {
    thread->recorded_launch = thread->last_launch;
    if (!sync || sync->type != kSyncEventRecorded) return;
    const auto stream = stream_ids_.find(StreamKey(sync->context, sync->stream));
    const StreamId recorded_in = stream == stream_ids_.end() ? StreamId{} : stream->second;
    recorded_events_.Record(sync->context, sync->event, recorded_in, call.start_ns);
    return;
  }
  if (!sync || sync->type != kSyncEventByStream) return;
  const auto stream = stream_ids_.find(StreamKey(sync->context, sync->stream));
  if (stream == stream_ids_.end()) return;
  StreamWait wait{call.start_ns, recorded_events_.Latest(sync->context, sync->event), 0};
  // Where no record tells, the thread has recorded what it waits for.
  if (!wait.record) wait.launch = thread->recorded_launch;
  std::deque<StreamWait>& waits = stream_waits_[Raw(stream->second)];
  if (waits.size() >= kMostOpenSyncs) waits.pop_front();  // of a stream in which nothing runs
  waits.push_back(std::move(wait));
}

// The first work that was launched behind a stream's wait comes after what it waits for.
void ProcessReplay::ApplyStreamWaits(const DeviceWork& work, const LaunchEntry* launched) {
  const auto waits = stream_waits_.find(Raw(work.stream));
  if (waits == stream_waits_.end()) return;
  std::deque<StreamWait>& open = waits->second;
  while (!open.empty() && (launched == nullptr || open.front().called_ns <= launched->start_ns)) {
    const StreamWait wait = std::move(open.front());
    open.pop_front();
    if (wait.record) {
      device_.WaitFor(work.stream, recorded_events_.WorkOf(*wait.record));
      continue;
    }
    const LaunchEntry* const launch = launches_.Find(wait.launch);
    if (launch != nullptr && launch->works != 0) {
      device_.WaitFor(work.stream, {launch->work_end_ns, launch->work_done});
    }
  }
}

// Where a copy and its other end come in either order, the copy tells when both begin.
void ProcessReplay::BeginWork() {
  const DeviceWork work = *work_.Peek();
  work_.Pop();
  const DeviceWork* const next = work_.Peek();
  if (next != nullptr && device_.IsOtherEndOf(*next, work)) {
    Begin(*next);
    work_.Pop();
  }
  Begin(work);
}

void ProcessReplay::Begin(DeviceWork work) {
  LaunchEntry* launch = launches_.Find(work.correlation);
  if (launch == nullptr && work.correlation != 0) {
    IndexCallsUntil(work.start_ns + kClockSlackNs);
    launch = launches_.Find(work.correlation);
  }
  if (launch != nullptr && launch->start_ns > work.start_ns + kClockSlackNs) launch = nullptr;
  const OperationIndex launched_in = launch == nullptr ? kNoOperationIndex : launch->operation;
  LaunchAnchor anchor = AnchorOf(work, launch);
  if (in_.path != nullptr) {
    anchor.path_part = in_.first_part + launched_in * kPathColumns + kPathLayers +
                       static_cast<uint32_t>(work_classes_->Of(work));
  }
  ApplyStreamWaits(work, launch);
  const double scale = work.start_ns < process_.span_begin_ns
                           ? 1
                           : scales_.Of(work.work) * scales_.OfLaunchedIn(launched_in);
  const ReplayDevice::Times times = device_.Start(work, anchor, scale);
  recorded_events_.NoteWork(work.stream, launch == nullptr ? work.start_ns : launch->start_ns,
                            {std::max(work.start_ns, work.end_ns), times.end});
  if (launch != nullptr) {
    if (launch->works++ == 0) KindOf(launch->label).launches = true;
    launch->work_end_ns = std::max({launch->work_end_ns, work.start_ns, work.end_ns});
    launch->work_done = Later(launch->work_done, times.end);
    ThreadAt(launch->thread).last_stream = work.stream;
    if (launch->merged_into != 0) work.correlation = launch->merged_into;
  }
  if (in_.output == nullptr) return;
  const int64_t duration_ns = work.end_ns - work.start_ns;
  work.start_ns = Retimed(times.start.at);
  work.end_ns = scale == 1 ? work.start_ns + duration_ns : Retimed(times.end.at);
  in_.output->Add(work);
}

LaunchAnchor ProcessReplay::AnchorOf(const DeviceWork& work, LaunchEntry* launch) {
  LaunchAnchor anchor;
  anchor.at_ns = work.start_ns;
  if (launch == nullptr) {
    // Queued before the recording began, say. What follows the work before it at once was there
    // already.
    const DoneWork& before = device_.StreamDone(work.stream, work.start_ns);
    const bool queued = before.done.exists() && work.start_ns - before.end_ns <= kQueuedNs;
    anchor.at_ns = queued ? before.end_ns : work.start_ns;
    anchor.at = queued ? before.done : LeadAt(work.start_ns);
    return anchor;
  }
  anchor.tells_latency = launch->works == 0;
  anchor.goes_on = launch->fused;
  const LaunchEntry* graph =
      launch->merged_into != 0 ? launches_.Find(launch->merged_into) : nullptr;
  if (graph != nullptr && graph->ended.exists() && launch->end_ns <= work.start_ns) {
    anchor.at_ns = launch->end_ns;
    anchor.at = graph->ended;
    anchor.tells_latency = false;
    anchor.moved = true;
  } else if (launch->ended.exists() && launch->end_ns <= work.start_ns) {
    anchor.at_ns = launch->end_ns;
    anchor.at = launch->ended;
  } else {
    // It began while its call was still open, after that call's own part; or it seems to have begun
    // before its call.
    const ReplayThread& thread = ThreadAt(launch->thread);
    CallKind& kind = KindOf(launch->label);
    const double own_part = UsualOwnPartOf(kind).ns();
    const int64_t own_end_ns = std::max(launch->start_ns + Rounded(own_part), thread.at_ns);
    anchor.at_ns = std::min(work.start_ns, own_end_ns);
    anchor.at =
        thread.started ? EndOfStep(thread.At(anchor.at_ns), thread.cell) : LeadAt(anchor.at_ns);
    anchor.tells_latency = false;
    if (thread.at_ns == launch->start_ns) {
      anchor.own_part = &OwnPartOf(&kind);
      anchor.own_ns = static_cast<double>(anchor.at_ns - launch->start_ns);
      const int64_t since_ns = thread.calls.empty() ? 0 : thread.calls.back().since_ns;
      anchor.own_variance = costs_.AfterBegin(launch->label, since_ns).variance;
    }
  }
  return anchor;
}

}  // namespace gpubound
