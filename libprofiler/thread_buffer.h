// SPDX-License-Identifier: Apache-2.0
//
// The hot path: where one thread stores its scopes, eight bytes per begin and per end. No lock, no
// allocation, no system call, no logging; whatever is not the common case is a ...SlowPath in
// thread_buffer.cc.
//
// Only the owning thread calls, and only it stores; the flusher reads the slots, never this object.
// An object lies in memory that a fork wipes (thread_registry.h): in a child, however it was made,
// all fields read as zero, cursor_ == limit_, and the first call takes the slow path without having
// touched a page of the parent. A signal handler that annotates may lose the event it interrupts.
#ifndef GPUBOUND_LIBPROFILER_THREAD_BUFFER_H_
#define GPUBOUND_LIBPROFILER_THREAD_BUFFER_H_

#include <cstdint>

#include "proto/event_model.h"
#include "proto/live_format.h"

namespace gpubound {

struct RecordingContext;

class ThreadBuffer {
 public:
  // Opens a scope of |label| at |ticks|.
  void Begin(LabelId label, uint64_t ticks) noexcept {
    const uint64_t since = ticks - base_ticks_;
    Slot* const place = cursor_;
    const uint32_t depth = depth_;
    if (place == limit_ || since > max_since_ || depth >= kMaxOpenScopes) [[unlikely]] {
      return BeginSlowPath(label, since);
    }
    open_[depth] = label;
    depth_ = depth + 1;
    Store(place, MakeSlot(SlotKind::kBegin, label, since));
  }

  // Closes the innermost open scope of |label|; without one, counts that and goes on.
  void End(LabelId label, uint64_t ticks) noexcept {
    const uint64_t since = ticks - base_ticks_;
    Slot* const place = cursor_;
    const uint32_t top = depth_ - 1;
    if (place == limit_ || since > max_since_ || top >= kMaxOpenScopes || open_[top] != label)
        [[unlikely]] {
      return EndSlowPath(label, since);
    }
    depth_ = top;
    Store(place, MakeSlot(SlotKind::kEnd, label, since));
  }

  // An event that neither opens nor closes a scope: kPhase, kMark, kPause, kResume.
  void Emit(SlotKind kind, LabelId label, uint64_t ticks) noexcept;

  // The same with a payload: kStep, kCounter, kRangeStart, kRangeEnd, kAdopt, kHandOver.
  void EmitWithPayload(SlotKind kind, LabelId label, uint64_t payload, uint64_t ticks) noexcept;

  // Binds a zeroed object to its thread. |context| outlives it.
  void Attach(RecordingContext* context, ThreadId thread) noexcept;

  // Hands the unfinished page over and drops every later event, silently: the thread ends or the
  // recording does. Owning thread only.
  void Detach() noexcept;

  // Open scopes, outermost first; those beyond kMaxOpenScopes have no entry.
  uint32_t open_depth() const { return depth_ < kMaxOpenScopes ? depth_ : kMaxOpenScopes; }
  LabelId open_label(uint32_t index) const { return open_[index]; }
  RecordingContext* context() const { return context_; }
  ThreadId thread() const { return thread_; }

 private:
  // |since| counts from base_ticks_, whatever that is: what the hot path has at hand.
  void BeginSlowPath(LabelId label, uint64_t since) noexcept;
  void EndSlowPath(LabelId label, uint64_t since) noexcept;
  void EndOutOfOrder(LabelId label, uint64_t ticks) noexcept;
  bool MakeRoom(uint32_t slots, uint64_t* ticks) noexcept;
  void SubmitPage() noexcept;
  bool StartPage(uint64_t ticks) noexcept;
  void CountDropped() noexcept;

  // The release order lets the flusher read what precedes a slot that it sees.
  void Store(Slot* place, Slot slot) noexcept {
    __atomic_store_n(place, slot, __ATOMIC_RELEASE);
    cursor_ = place + 1;
  }

  // In the order of use, so that the hot fields share the first cache line with the bottom of the
  // stack.
  Slot* cursor_;
  Slot* limit_;
  uint64_t base_ticks_;
  uint64_t max_since_;  // kMaxSlotTicks while there is a page: one compare with memory
  uint32_t depth_;      // scopes open, including those deeper than open_ holds
  uint32_t page_;       // index in the pool; meaningful while cursor_ is not null
  LabelId open_[kMaxOpenScopes];

  RecordingContext* context_;  // null: not attached, or wiped by a fork
  uint64_t first_sequence_;    // of the current page, or of the next one when there is none
  uint64_t dropped_;           // events lost since the last page
  ThreadId thread_;
  bool dropping_;  // the pool was found empty: no more waiting until it has a page
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_THREAD_BUFFER_H_
