// SPDX-License-Identifier: Apache-2.0
//
// Looks at the stacks and joins looks that saw the same one. The flusher's thread.
#include "libprofiler/python/stack_sampler.h"

#include <algorithm>
#include <exception>
#include <string>

#include "libprofiler/debug_log.h"
#include "proto/schema.h"

namespace gpubound {

StackSampler::StackSampler(const InterpreterAddress& address, RecordingContext* context,
                           Clock* clock, TaskStats* stats, FrameTable* frames, DeviceTables* facts,
                           uint32_t per_second)
    : sink_(context, kRecorder),
      clock_(*clock),
      stats_(*stats),
      frames_(*frames),
      facts_(*facts),
      period_ns_(1'000'000'000 / per_second),
      stacks_(InterpreterStacks::Create(address, frames)) {
  if (stacks_ == nullptr) {
    facts_.AddFact(kStacksUnavailableFact, "the interpreter's memory could not be read");
    DebugLog(
        "Python stacks are not sampled: version 3.%d is not known, or process_vm_readv refused",
        address.minor);
    return;
  }
  due_ns_ = clock_.MonotonicNs();
}

int64_t StackSampler::SampleIfDue() noexcept {
  if (due_ns_ == INT64_MAX) return due_ns_;
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < due_ns_) return due_ns_;
  try {
    const int64_t begin_ns = stats_.OwnCpuNs();
    const int64_t woken_ns = std::min(begin_ns - own_cpu_ns_, kMostToWakeUpNs);
    Look();
    own_cpu_ns_ = stats_.OwnCpuNs();
    const int64_t took_ns = woken_ns + own_cpu_ns_ - begin_ns;
    const int64_t pause_ns = About(std::max(took_ns * kRarerThanItTakes, period_ns_));
    due_ns_ = now_ns + std::min(pause_ns, kLongestPauseNs);
    if (looks_ == 0 && torn_ >= kLooksToJudge) {
      facts_.AddFact(kStacksUnavailableFact, "no stack could be read");
      DebugLog("Python stacks are not sampled: none could be read");
      due_ns_ = INT64_MAX;
    }
  } catch (const std::exception&) {  // out of memory
    due_ns_ = INT64_MAX;
  }
  return due_ns_;
}

void StackSampler::SampleAtEnd() noexcept {
  if (stacks_ == nullptr) return;
  try {
    for (Seen& seen : seen_) Put(&seen);
    sink_.Publish();
    Say(kStackLooksFact, looks_);
    Say(kStackLooksTornFact, torn_ + sink_.dropped_stacks());
    if (frames_.overflowed() != 0) Say(kFramesOverflowedFact, frames_.overflowed());
  } catch (const std::exception&) {  // out of memory
  }
}

void StackSampler::Say(const char* key, uint64_t value) {
  facts_.AddFact(key, std::to_string(value));
}

// Uniformly from half of |pause_ns| to one and a half: looks that come evenly, because of the period or
// of what they cost, would meet a loop of that length at the same places again and again.
int64_t StackSampler::About(int64_t pause_ns) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return pause_ns / 2 + static_cast<int64_t>(random_ % static_cast<uint64_t>(pause_ns));
}

void StackSampler::Look() {
  for (Seen& seen : seen_) seen.is_there = false;
  stacks_->ListThreads(&threads_);
  for (const InterpreterStacks::Thread& thread : threads_) LookAt(thread);
  std::erase_if(seen_, [this](Seen& seen) {
    if (seen.is_there) return false;
    Put(&seen);
    return true;
  });
  sink_.Publish();
}

// A thread whose CPU time goes on meanwhile runs. Where it has run since the last look and does not
// now, it may wait for a CPU, as for the one that this thread has.
void StackSampler::LookAt(const InterpreterStacks::Thread& thread) {
  const int64_t begin_ns = clock_.MonotonicNs();
  const int64_t cpu_before_ns = stats_.CpuNs(thread.tid);
  const std::optional<FrameId> frame = stacks_->StackOf(thread);
  const int64_t cpu_ns = stats_.CpuNs(thread.tid);
  const int64_t now_ns = clock_.MonotonicNs();
  if (!frame || cpu_ns < 0 || now_ns - begin_ns > kLongestLookNs) {
    ++torn_;
    return;
  }
  if (*frame == FrameId{}) return;
  Seen* const seen = Of(thread.tid);
  const bool has_run = cpu_ns != seen->cpu_ns;
  const bool runs = cpu_ns != cpu_before_ns || (has_run && stats_.IsRunnable(thread.tid));
  const bool goes_on = seen->frame == *frame && !has_run;
  if (!goes_on || now_ns - seen->first_ns > kLongestNs) Put(seen);
  if (seen->looks++ == 0) {
    seen->frame = *frame;
    seen->first_ns = now_ns;
  }
  seen->runnable += runs ? 1 : 0;
  seen->last_ns = now_ns;
  seen->cpu_ns = cpu_ns;
  seen->is_there = true;
  ++looks_;
}

StackSampler::Seen* StackSampler::Of(uint32_t tid) {
  const auto found =
      std::find_if(seen_.begin(), seen_.end(), [tid](const Seen& seen) { return seen.tid == tid; });
  return found != seen_.end() ? &*found : &seen_.emplace_back(Seen{.tid = tid});
}

void StackSampler::Put(Seen* seen) {
  if (seen->looks == 0) return;
  sink_.Append(StackRecord{.start_ns = static_cast<uint64_t>(seen->first_ns),
                           .end_ns = static_cast<uint64_t>(seen->last_ns),
                           .correlation = 0,
                           .tid = seen->tid,
                           .frame = seen->frame,
                           .looks = seen->looks,
                           .runnable = seen->runnable,
                           .reserved = 0});
  seen->looks = 0;
  seen->runnable = 0;
}

}  // namespace gpubound
