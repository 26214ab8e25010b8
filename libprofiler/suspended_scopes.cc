// SPDX-License-Identifier: Apache-2.0
//
// Scopes while recording is suspended: the stack of open scopes is followed, and the page keeps
// what it had. A thread falls behind at its first scope then, and catches up at its first event
// after.
//
//   stack:   [train [rollout ]rollout [update
//                            ^ fell behind
//   trace:   [train [rollout                     ]rollout [update    the end and the begin that
//                                                ^ caught up         were missed, at the time of
//                                                                    the first event
//
// Runs on the owning thread. A part of ThreadBuffer.
#include <algorithm>

#include "libprofiler/thread_buffer.h"

namespace gpubound {

void ThreadBuffer::BeginUnrecordedSlowPath(LabelId label, uint64_t now) noexcept {
  // One that is not attached, or was wiped by a fork: its first scope is recorded as ever.
  if (context_ == nullptr) return BeginSlowPath(label, now);
  if (!behind_) FallBehind(now);
  if (OpenTooDeep(label)) return;
  if (open_depth() == kMaxOpenScopes) MakePlace();
  *++innermost_ = Raw(label);
  ++unrecorded_;
}

void ThreadBuffer::EndUnrecordedSlowPath(LabelId label, uint64_t now) noexcept {
  if (context_ == nullptr) return EndSlowPath(label, now);
  if (!behind_) FallBehind(now);
  if (CloseInnermostTooDeep(label)) return;
  uint32_t* place = innermost_;
  while (place > stack_ && *place != Raw(label)) --place;
  if (place > stack_) return Remove(place);
  // Unbalanced, and recorded so.
  if (!EndElided(label)) EndSlowPath(label, behind_ticks_);
}

void ThreadBuffer::FallBehind(uint64_t ticks) noexcept {
  recorded_depth_ = open_depth();
  std::copy_n(stack_ + 1, recorded_depth_, recorded_);
  behind_ticks_ = ticks;
  behind_ = true;
  limit_ = cursor_;  // every event takes the slow path, which looks at behind_
}

// What is open on both sides is taken to have stayed open. The stack goes back to what the trace
// has and then, scope by scope and recorded, to what is open now: so a page that begins meanwhile,
// or an event for which there is none, is handled as anywhere else.
void ThreadBuffer::CatchUp(uint64_t ticks) noexcept {
  behind_ = false;
  uint32_t open[kMaxOpenScopes];
  const uint32_t depth = open_depth();
  const uint64_t too_deep = too_deep_;
  std::copy_n(stack_ + 1, depth, open);
  std::copy_n(recorded_, recorded_depth_, stack_ + 1);
  innermost_ = stack_ + recorded_depth_;
  too_deep_ = 0;
  const uint32_t* const both =
      std::mismatch(open, open + std::min(depth, recorded_depth_), recorded_).first;
  while (innermost_ - stack_ > both - open) EndSlowPath(static_cast<LabelId>(*innermost_), ticks);
  for (const uint32_t* next = both; next != open + depth; ++next) {
    BeginSlowPath(static_cast<LabelId>(*next), ticks);
  }
  too_deep_ = too_deep;
  if (too_deep_ != 0) innermost_ = &stack_[kMaxOpenScopes + 1];
}

}  // namespace gpubound
