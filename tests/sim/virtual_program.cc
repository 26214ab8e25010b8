// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/virtual_program.h"

#include <algorithm>
#include <map>
#include <utility>

#include "proto/wake_tokens.h"
#include "tests/sim/cost_draw.h"
#include "tests/sim/virtual_calls.h"
#include "tests/sim/virtual_state.h"

namespace gpubound::sim {
namespace {

class Machine {
 public:
  Machine(const VirtualProgram& program, EventSink* sink)
      : program_(program),
        sink_(sink != nullptr ? sink : &nobody_),
        device_(program.device),
        costs_(program.cost.deviation, program.cost.seed) {
    for (uint32_t i = 0; i < program.streams; ++i) device_.CreateStream(0, true);
    for (uint32_t i = 0; i < program.events; ++i) device_.CreateEvent();
    device_.set_on_complete([this](const Op& op) { OnComplete(op); });
    for (const VirtualThread& thread : program.threads) {
      threads_.emplace_back().wake_ns = thread.start_ns;
      history_.tids.push_back(thread.tid);
      history_.processes.push_back(thread.process);
      history_.ends.push_back(thread.start_ns);
    }
    history_.python = program.python;
    history_.limits = program.limits;
  }

  History Run() {
    for (;;) {
      const auto device_next = device_.NextEventNs();
      const size_t thread = NextThread();
      const bool host = thread < threads_.size();
      if (!host && !device_next) break;
      if (device_next && (!host || *device_next <= threads_[thread].wake_ns)) {
        MoveTo(*device_next);
        device_.Advance(*device_next);
        Unblock();
      } else {
        MoveTo(threads_[thread].wake_ns);
        device_.Advance(threads_[thread].wake_ns);
        Step(static_cast<uint32_t>(thread));
      }
    }
    for (ScopeFact& scope : history_.scopes) {
      if (scope.end_ns < 0) scope.end_ns = history_.span_ns;
    }
    EndOutages();
    return std::move(history_);
  }

 private:
  using Thread = ThreadState;

  // The thread that acts next; ties go to the first one. threads_.size() when none can.
  size_t NextThread() const {
    size_t best = threads_.size();
    for (size_t i = 0; i < threads_.size(); ++i) {
      const bool done = threads_[i].next >= program_.threads[i].statements.size();
      if (done || threads_[i].blocked) continue;
      if (best == threads_.size() || threads_[i].wake_ns < threads_[best].wake_ns) best = i;
    }
    return best;
  }

  void MoveTo(TimeNs now) {
    if (now == now_) return;
    const TimeNs before = now_;
    now_ = now;
    if (HostRuns()) sink_->OnTime(now);
    for (const Outage& outage : program_.outages) {
      if (outage.from_ns > before && outage.from_ns <= now) {
        sink_->OnUnknown({outage.from_ns, kStillUnknown});
      }
    }
  }

  bool IsLost(TimeNs begin_ns, bool call) const {
    return std::any_of(program_.outages.begin(), program_.outages.end(), [&](const Outage& outage) {
      return (outage.calls || !call) && outage.from_ns <= begin_ns && begin_ns < outage.to_ns;
    });
  }

  void EndOutages() {
    std::erase_if(history_.calls,
                  [this](const ApiFact& call) { return IsLost(call.begin_ns, true); });
    for (const Outage& outage : program_.outages) {
      UnknownFact unknown{outage.from_ns, outage.to_ns};
      for (const WorkFact& work : history_.lost_work) {
        const bool here = outage.from_ns <= work.begin_ns && work.begin_ns < outage.to_ns;
        if (here) unknown.to_ns = std::max(unknown.to_ns, work.end_ns);
      }
      history_.unknown.push_back(unknown);
      sink_->OnUnknown(unknown);
    }
  }

  bool HostRuns() const {
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].next < program_.threads[i].statements.size()) return true;
    }
    return false;
  }

  const Statement& Current(uint32_t t) const {
    return program_.threads[t].statements[threads_[t].next];
  }

  void Step(uint32_t t) {
    Thread& thread = threads_[t];
    const Statement& statement = Current(t);
    if (ApiNameOf(statement.action) == nullptr) {
      if (waits_.HasToWait(statement, now_, &thread)) return;
      TakeHostAction(t, statement);
      ++thread.next;
      NoteEnd(t);
      return;
    }
    if (thread.stage == Stage::kStart) {
      thread.call = history_.calls.size();
      history_.calls.push_back({.thread = t,
                                .name = ApiNameOf(statement.action),
                                .begin_ns = now_,
                                .end_ns = now_,
                                .correlation = next_correlation_++,
                                .sequence = next_sequence_++,
                                .queue_full_from_ns = 0,
                                .queue_full_to_ns = 0,
                                .stream = statement.slot,
                                .event = statement.event});
      thread.wake_ns = now_ + statement.cost_ns + costs_.Of(CostOfCall(thread));
      thread.stage = Stage::kSubmit;
      thread.blocked_since_ns = -1;
      return;
    }
    if (thread.stage == Stage::kSubmit) return Submit(t, statement);
    if (thread.stage == Stage::kReturn) Return(t);
  }

  void TakeHostAction(uint32_t t, const Statement& statement) {
    Thread& thread = threads_[t];
    switch (statement.action) {
      case Action::kCompute:
        thread.wake_ns = now_ + statement.cost_ns;
        return;
      case Action::kOpen:
        thread.open[statement.slot] = history_.scopes.size();
        history_.scopes.push_back({.thread = t,
                                   .name = statement.scope,
                                   .begin_ns = now_,
                                   .end_ns = -1,
                                   .sequence = next_sequence_++});
        sink_->OnBegin(t, statement.scope, now_);
        break;
      case Action::kClose: {
        ScopeFact& scope = history_.scopes[thread.open.at(statement.slot)];
        thread.open.erase(statement.slot);
        scope.end_ns = now_;
        sink_->OnEnd(t, scope.name, now_);
        break;
      }
      case Action::kPhase:
        history_.phases.push_back({t, now_, statement.scope.text});
        sink_->OnPhase(t, statement.scope.text, now_);
        break;
      case Action::kStep:
        history_.steps.push_back({t, now_, statement.slot});
        sink_->OnStep(t, statement.slot, now_);
        break;
      case Action::kStartRange:
        StartRange(t, statement);
        break;
      case Action::kEndRange:
        EndRange(t, statement.slot);
        break;
      case Action::kPause:
      case Action::kResume:
        history_.pauses.push_back({t, now_, statement.action == Action::kPause});
        sink_->OnPause(history_.pauses.back());
        break;
      case Action::kSignal:
        return Signal(t, statement);
      case Action::kAwait:
        return Await(t, statement);
      case Action::kSetTime:
        waits_.times[statement.slot] = now_ + statement.delay_ns;
        return NoteTime(t, statement, SlotKind::kHandOver);
      case Action::kAwaitTime: {
        const bool waited = std::exchange(thread.awaited, false);
        return NoteTime(t, statement, waited ? SlotKind::kWoken : SlotKind::kAdopt);
      }
      default:
        break;
    }
    thread.wake_ns = now_ + statement.cost_ns + costs_.Of(program_.cost.scope_ns);
  }

  void Await(uint32_t t, const Statement& statement) {
    threads_[t].wake_ns = now_ + statement.cost_ns;
    const bool waited = std::exchange(threads_[t].awaited, false);
    NoteWake(t, statement.slot, ++waits_.semaphores[statement.slot].awaited, waited,
             waited ? SlotKind::kWoken : SlotKind::kAdopt);
  }
  void Signal(uint32_t t, const Statement& statement) {
    threads_[t].wake_ns = now_ + statement.cost_ns;
    bool wakes = false;
    for (uint32_t other = 0; other < threads_.size(); ++other) {
      if (!threads_[other].awaits || Current(other).slot != statement.slot) continue;
      wakes = true;
      threads_[other].blocked = threads_[other].awaits = false;  // it looks whether it may go on
      threads_[other].wake_ns = now_ + Current(other).wake_up_ns;
    }
    NoteWake(t, statement.slot, ++waits_.semaphores[statement.slot].signalled, wakes,
             SlotKind::kHandOver);
  }
  void NoteWake(uint32_t t, uint32_t semaphore, uint64_t time, bool waits, SlotKind kind) {
    const bool each = (program_.told_items >> semaphore & 1) != 0;
    if (!each && (!waits || (program_.told_semaphores >> semaphore & 1) == 0)) return;
    history_.wakes.push_back({t, now_, each ? time << 6 | semaphore : semaphore, kind});
    threads_[t].wake_ns += costs_.Of(program_.cost.scope_ns);
  }

  void NoteTime(uint32_t t, const Statement& statement, SlotKind kind) {
    threads_[t].wake_ns = now_ + statement.cost_ns;
    if (!statement.told) return;
    threads_[t].wake_ns += costs_.Of(program_.cost.scope_ns);
    history_.wakes.push_back({t, now_, TokenOfTime(waits_.times[statement.slot]), kind});
  }

  void StartRange(uint32_t t, const Statement& statement) {
    const uint64_t range = ++last_range_;
    ranges_[statement.slot] = history_.scopes.size();
    history_.scopes.push_back({.thread = t,
                               .name = statement.scope,
                               .begin_ns = now_,
                               .end_ns = -1,
                               .sequence = next_sequence_++,
                               .range = range});
    sink_->OnRangeStart(t, statement.scope, range, now_);
  }
  void EndRange(uint32_t t, uint32_t handle) {
    const auto found = ranges_.find(handle);
    if (found == ranges_.end()) return;
    ScopeFact& scope = history_.scopes[found->second];
    ranges_.erase(found);
    scope.end_ns = now_;
    scope.end_thread = t;
    sink_->OnRangeEnd(t, scope.range, now_);
  }

  // Of a call that begins now, in the mean.
  TimeNs CostOfCall(const Thread& thread) const {
    const bool cold = now_ - thread.last_call_end_ns >= program_.cost.cold_after_ns;
    return program_.cost.api_ns + (cold ? program_.cost.cold_api_ns : 0);
  }

  void NoteEnd(uint32_t t) {
    history_.ends[t] = threads_[t].wake_ns;
    history_.span_ns = std::max(history_.span_ns, threads_[t].wake_ns);
  }

  // The CPU part of the call is over: what it asks for reaches the device, if there is room.
  void Submit(uint32_t t, const Statement& statement) {
    Thread& thread = threads_[t];
    if (!device_.HasRoom(statement.slot)) {
      if (thread.blocked_since_ns < 0) thread.blocked_since_ns = now_;
      thread.blocked = true;
      return;
    }
    ApiFact& call = history_.calls[thread.call];
    if (thread.blocked_since_ns >= 0) {
      call.queue_full_from_ns = thread.blocked_since_ns;
      call.queue_full_to_ns = now_;
    }
    thread.waits_for.clear();
    SubmitTo(&device_, statement, call.correlation, now_, &thread.waits_for);
    thread.stage = Stage::kWait;
    thread.blocked = true;
    FinishIfDone(t, /*waited=*/false);
  }

  void Unblock() {
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      if (!threads_[t].blocked || threads_[t].awaits) continue;
      if (threads_[t].stage == Stage::kSubmit) {
        threads_[t].blocked = false;
        threads_[t].wake_ns = now_;
      } else {
        FinishIfDone(t, /*waited=*/true);
      }
    }
  }

  void FinishIfDone(uint32_t t, bool waited) {
    Thread& thread = threads_[t];
    const bool done = std::all_of(thread.waits_for.begin(), thread.waits_for.end(),
                                  [this](OpId op) { return device_.IsComplete(op); });
    if (!done) return;
    thread.blocked = false;
    const TimeNs wake_up_ns = program_.threads[t].statements[thread.next].wake_up_ns;
    if (!waited || wake_up_ns == 0) return Return(t);
    thread.stage = Stage::kReturn;
    thread.wake_ns = now_ + wake_up_ns;
  }

  void Return(uint32_t t) {
    Thread& thread = threads_[t];
    ApiFact& call = history_.calls[thread.call];
    call.end_ns = now_;
    thread.last_call_end_ns = now_;
    if (!IsLost(call.begin_ns, true)) sink_->OnCall(call);
    thread.stage = Stage::kStart;
    thread.wake_ns = now_ + 1;  // no two events of a thread share a time
    ++thread.next;
    NoteEnd(t);
  }

  void OnComplete(const Op& op) {
    if (!IsDeviceWork(op.kind)) return;
    WorkFact work{.kind = op.kind,
                  .name = op.name,
                  .stream = op.stream,
                  .correlation = op.correlation,
                  .begin_ns = op.start_ns,
                  .end_ns = op.end_ns,
                  .bytes = op.bytes};
    if (op.kind == OpKind::kKernel) work.geometry = op.work;
    if (IsLost(work.begin_ns, false)) {
      history_.lost_work.push_back(std::move(work));
      return;
    }
    history_.work.push_back(std::move(work));
    sink_->OnWork(history_.work.back());
  }

  const VirtualProgram& program_;
  EventSink nobody_;
  EventSink* const sink_;
  SimDevice device_;
  CostDraw costs_;
  History history_;
  std::vector<Thread> threads_;
  Waits waits_;
  std::map<uint32_t, size_t> ranges_;  // open: handle -> index in history_.scopes
  uint64_t last_range_ = 0;
  TimeNs now_ = -1;
  uint32_t next_correlation_ = 1;
  uint64_t next_sequence_ = 1;
};

}  // namespace

History Execute(const VirtualProgram& program, EventSink* sink) {
  return Machine(program, sink).Run();
}

}  // namespace gpubound::sim
