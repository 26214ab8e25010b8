// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI's records tell of overheads: its own are taken out, a full queue is a wait for the
// device. And what looks at the threads tell. One object, one caller.
#include <algorithm>
#include <cstdint>

#include "analysis/replay/replay_process.h"

namespace gpubound {

void ProcessReplay::BeginOverhead() {
  const ThreadOverhead next = *overheads_.Peek();
  overheads_.Pop();
  const Overhead& overhead = next.overhead;
  ReplayThread& thread = Started(next.thread, overhead.start_ns);
  Arrive(next.thread, &thread, overhead.start_ns, 0);
  if (costs_.IsOwnOverhead(overhead.label)) {
    if (RemovesRecorded()) ChargeRecorded(next.thread, &thread, overhead);
    return;
  }
  const auto index = static_cast<uint32_t>(next_sequence_);
  open_overheads_[index] = {next, thread.shown};
  SetTimer(std::max(overhead.start_ns, overhead.end_ns), TimerKind::kOverheadEnds, index);
}

// The record tells what it cost, so nothing about it is uncertain. Records may nest or come twice;
// and in a call its usual cost is gone already, which is not removed again.
void ProcessReplay::ChargeRecorded(uint32_t index, ReplayThread* thread, const Overhead& overhead) {
  const int64_t begin_ns = std::max(overhead.start_ns, thread->own_overhead_until_ns);
  if (overhead.end_ns <= begin_ns) return;
  thread->own_overhead_until_ns = overhead.end_ns;
  auto cost_ns = static_cast<double>(overhead.end_ns - begin_ns);
  for (ReplayThread::OpenCall& open : thread->calls) {
    const double known_ns = std::min(open.unrecorded_ns, cost_ns);
    open.unrecorded_ns -= known_ns;
    cost_ns -= known_ns;
  }
  Charge(index, thread, {cost_ns, 0, 0, cost_ns}, 0);
}

void ProcessReplay::EndOverhead(uint32_t index) {
  const OpenOverhead open = open_overheads_.at(index);
  open_overheads_.erase(index);
  const uint32_t number = open.overhead.thread;
  const Overhead& overhead = open.overhead.overhead;
  ReplayThread& thread = ThreadAt(number);
  const DoneWork& freed = device_.LastEnded(overhead.end_ns);
  if (roles_.Of(overhead.label).command_buffer_full && freed.end_ns > overhead.start_ns) {
    for (ReplayThread::OpenCall& call : thread.calls) {
      call.queue_full_ns += static_cast<double>(overhead.end_ns - overhead.start_ns);
    }
    // The queue had room again when work ended.
    const auto delay = static_cast<double>(overhead.end_ns - freed.end_ns);
    thread.WaitFor(freed.done.After(delay), overhead.end_ns, open.shown_begun);
    NoteWaited(number, &thread);
  } else {
    thread.MoveTo(overhead.end_ns);
  }
  if (in_.output == nullptr) return;
  ThreadOverhead retimed = open.overhead;
  retimed.overhead.start_ns = Retimed(open.shown_begun);
  retimed.overhead.end_ns = Retimed(thread.shown);
  in_.output->Add(retimed);
}

// Where threads were is seen from outside: it moves nothing, and what was seen between two instants
// was so between those that they have become.
void ProcessReplay::BeginCpuTime() {
  const CpuTime time = *cpu_times_.Peek();
  cpu_times_.Pop();
  const auto index = static_cast<uint32_t>(next_sequence_);
  open_cpu_times_[index] = {time, Retimed(At(time.start_ns).at)};
  SetTimer(std::max(time.start_ns, time.end_ns), TimerKind::kCpuTimeEnds, index);
}

void ProcessReplay::EndCpuTime(uint32_t index) {
  const OpenCpuTime open = open_cpu_times_.at(index);
  open_cpu_times_.erase(index);
  const auto was_ns = static_cast<double>(open.time.end_ns - open.time.start_ns);
  CpuTime retimed = open.time;
  retimed.start_ns = open.retimed_begin_ns;
  retimed.end_ns = Retimed(At(open.time.end_ns).at);
  const double part = static_cast<double>(retimed.end_ns - retimed.start_ns) / was_ns;
  if (!(part > 0)) return;
  retimed.on_cpu_ns = Rounded(static_cast<double>(open.time.on_cpu_ns) * part);
  if (open.time.ready_ns) {
    retimed.ready_ns = Rounded(static_cast<double>(*open.time.ready_ns) * part);
  }
  in_.output->Add(retimed);
}

}  // namespace gpubound
