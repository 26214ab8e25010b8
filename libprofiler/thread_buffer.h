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
    uint64_t* const innermost = innermost_;
    if (place == limit_ || since > max_since_ || IsFull(innermost)) [[unlikely]] {
      return BeginSlowPath(label, since);
    }
    innermost[1] = Raw(label);
    innermost_ = innermost + 1;
    Store(place, MakeSlot(SlotKind::kBegin, label, since));
  }

  // Closes the innermost open scope of |label|; without one, counts that and goes on.
  void End(LabelId label, uint64_t ticks) noexcept {
    const uint64_t since = ticks - base_ticks_;
    Slot* const place = cursor_;
    uint64_t* const innermost = innermost_;
    if (place == limit_ || since > max_since_ || *innermost != Raw(label)) [[unlikely]] {
      return EndSlowPath(label, since);
    }
    innermost_ = innermost - 1;
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
  uint32_t open_depth() const {
    if (context_ == nullptr) return 0;
    return too_deep_ != 0 ? kMaxOpenScopes : static_cast<uint32_t>(innermost_ - stack_);
  }
  LabelId open_label(uint32_t index) const { return static_cast<LabelId>(stack_[index + 1]); }
  RecordingContext* context() const { return context_; }
  ThreadId thread() const { return thread_; }

 private:
  // |since| counts from base_ticks_, whatever that is: what the hot path has at hand.
  void BeginSlowPath(LabelId label, uint64_t since) noexcept;
  void EndSlowPath(LabelId label, uint64_t since) noexcept;
  void EndOutOfOrder(LabelId label, uint64_t ticks) noexcept;
  bool MakeRoom(uint32_t slots, uint64_t* ticks) noexcept;
  void SubmitPage() noexcept;
  void OpenStretch() noexcept;
  bool StartPage(uint64_t ticks) noexcept;
  void CountDropped() noexcept;

  // The release order lets the flusher read what precedes a slot that it sees.
  void Store(Slot* place, Slot slot) noexcept {
    __atomic_store_n(place, slot, __ATOMIC_RELEASE);
    cursor_ = place + 1;
  }

  // The stack lies so that one bit of the address says that it is full: no bound to load.
  static bool IsFull(const uint64_t* innermost) {
    return (reinterpret_cast<uintptr_t>(innermost) & kStackBytes) != 0;
  }

  static constexpr size_t kStackBytes = kMaxOpenScopes * sizeof(uint64_t);
  static_assert((kStackBytes & (kStackBytes - 1)) == 0);
  // What no label equals: an end at the bottom, or one of a scope too deep for the stack, meets it.
  static constexpr uint64_t kNoLabel = UINT64_MAX;

  Slot* cursor_;
  Slot* limit_;  // end of the stretch of the page that is open for writing
  uint64_t base_ticks_;
  uint64_t max_since_;   // kMaxSlotTicks while there is a page: one compare with memory
  uint64_t* innermost_;  // in stack_: at 0 nothing is open; one past the last while too_deep_ != 0
  Slot* page_end_;
  uint64_t too_deep_;          // scopes open beyond those of stack_
  uint32_t page_;              // index in the pool; meaningful while cursor_ is not null
  RecordingContext* context_;  // null: not attached, or wiped by a fork
  uint64_t first_sequence_;    // of the current page, or of the next one when there is none
  uint64_t dropped_;           // events lost since the last page
  ThreadId thread_;
  bool dropping_;  // the pool was found empty: no more waiting until it has a page

  // kNoLabel, the open scopes from the outermost on, kNoLabel.
  alignas(2 * kStackBytes) uint64_t stack_[kMaxOpenScopes + 2];
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_THREAD_BUFFER_H_
