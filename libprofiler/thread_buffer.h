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

#include "libprofiler/clock.h"
#include "proto/event_model.h"
#include "proto/live_format.h"

namespace gpubound {

struct RecordingContext;

class ThreadBuffer {
 public:
  // Opens a scope of |label| at |ticks|.
  void Begin(LabelId label, SplitTicks ticks) noexcept {
    Slot* const place = cursor_;
    uint32_t* const innermost = innermost_;
    if (place == limit_ || ticks.high != era_ || IsFull(innermost)) [[unlikely]] {
      return BeginSlowPath(label, ticks.Joined());
    }
    innermost[1] = Raw(label);
    innermost_ = innermost + 1;
    Store(place, MakeSlot(label, begin_head_, ticks.low));
  }

  // Closes the innermost open scope of |label|; without one, counts that and goes on. One that is a
  // block of the program's text (kBlockScope) closes the blocks inside it, too: what left them
  // (longjmp) ran nothing of theirs.
  void End(LabelId label, SplitTicks ticks) noexcept {
    Slot* const place = cursor_;
    uint32_t* const innermost = innermost_;
    if (place == limit_ || ticks.high != era_ || *innermost != Raw(label)) [[unlikely]] {
      return EndSlowPath(label, ticks.Joined());
    }
    innermost_ = innermost - 1;
    Store(place, MakeSlot(label, end_head_, ticks.low));
  }

  // An event that neither opens nor closes a scope: kPhase, kMark, kPause, kResume.
  void Emit(SlotKind kind, LabelId label, uint64_t ticks) noexcept;

  // The same with a payload: kStep, kCounter, kRangeStart, kRangeEnd, kAdopt, kHandOver.
  void EmitWithPayload(SlotKind kind, LabelId label, uint64_t payload, uint64_t ticks) noexcept;

  // The scope |label| was open when the process was forked: its end here closes nothing of ours.
  void ExpectEndOf(uint32_t label) noexcept { Elide(label, 1); }

  // Binds a zeroed object to its thread. |context| outlives it.
  void Attach(RecordingContext* context, ThreadId thread) noexcept;

  // Hands the unfinished page over and drops every later event, silently: the thread ends or the
  // recording does. Owning thread only.
  void Detach() noexcept;

  // Open scopes, outermost first, at most kMaxOpenScopes. Where more are open, those that no entry
  // is left for are outer ones, or as the innermost one.
  uint32_t open_depth() const {
    if (context_ == nullptr || innermost_ < stack_) return 0;
    return too_deep_ != 0 ? kMaxOpenScopes : static_cast<uint32_t>(innermost_ - stack_);
  }
  // As it was passed to Begin(), and the number of its name alone.
  uint32_t open_scope(uint32_t index) const { return stack_[index + 1]; }
  LabelId open_label(uint32_t index) const {
    return static_cast<LabelId>(open_scope(index) & (kMaxLabels - 1));
  }
  // Another one after each event.
  const void* place() const { return cursor_; }
  RecordingContext* context() const { return context_; }
  ThreadId thread() const { return thread_; }

 private:
  ThreadBuffer* AttachAt(uint64_t ticks) noexcept;
  void BeginSlowPath(LabelId label, uint64_t ticks) noexcept;
  void EndSlowPath(LabelId label, uint64_t ticks) noexcept;
  void EndOutOfOrder(LabelId label, uint64_t ticks) noexcept;
  void CloseBlocksInside(uint32_t* place, uint64_t ticks) noexcept;
  void Remove(uint32_t* place) noexcept;
  bool CloseInnermostTooDeep(LabelId label) noexcept;
  bool OpenTooDeep(LabelId label) noexcept;
  uint32_t MakePlace() noexcept;
  void SetTooDeepAside() noexcept;
  void Elide(uint32_t label, uint64_t scopes) noexcept;
  bool EndElided(LabelId label) noexcept;
  bool MakeRoom(uint32_t slots, uint64_t* ticks) noexcept;
  void SubmitPage() noexcept;
  void OpenStretch() noexcept;
  void EnterEra(uint64_t ticks) noexcept;
  bool StartPage(uint64_t ticks) noexcept;
  void CountDropped() noexcept;

  // The release order lets the flusher read what precedes a slot that it sees.
  void Store(Slot* place, Slot slot) noexcept {
    __atomic_store_n(place, slot, __ATOMIC_RELEASE);
    cursor_ = place + 1;
  }

  static Slot MakeSlot(LabelId label, uint64_t head, uint64_t low_ticks) {
    return (uint64_t{Raw(label)} << (kSlotTickBits + kSlotKindBits)) | head | low_ticks;
  }

  // The stack lies so that one bit of the address says that it is full: no bound to load.
  static bool IsFull(const uint32_t* innermost) {
    return (reinterpret_cast<uintptr_t>(innermost) & kStackBytes) != 0;
  }

  static constexpr size_t kStackBytes = kMaxOpenScopes * sizeof(uint32_t);
  static_assert((kStackBytes & (kStackBytes - 1)) == 0);
  // What no label equals: an end at the bottom, or one of a scope too deep for the stack, meets it.
  // No collector gives it out, and it is none of the numbers that stand for an error. A program
  // that makes it up gets one end too many into its trace and leaves |innermost_| before |stack_|,
  // where the first scope to open takes the bottom's place.
  static constexpr uint32_t kNoLabel = 0x9e5ca1ed;
  static_assert(kNoLabel >= kMaxLabels);

  Slot* cursor_;
  Slot* limit_;  // end of the stretch of the page that is open for writing
  // An era is 2^32 ticks, one to two seconds; a page's base is the begin of one. Within an era the
  // upper half of the clock is one comparison, and its lower half goes into the slot as it is.
  uint64_t era_;         // upper half of the clock that begin_head_ and end_head_ are for
  uint64_t begin_head_;  // kind and eras since the page's base, at their place in a slot
  uint64_t end_head_;
  uint32_t* innermost_;  // in stack_: at 0 nothing is open; one past the last while too_deep_ != 0
  Slot* page_end_;
  uint64_t base_ticks_;        // of the page
  uint64_t too_deep_;          // scopes open beyond those of stack_, each like its innermost one
  uint32_t page_;              // index in the pool; meaningful while cursor_ is not null
  RecordingContext* context_;  // null: not attached, or wiped by a fork
  uint64_t first_sequence_;    // of the current page, or of the next one when there is none
  uint64_t dropped_;           // events lost since the last page
  ThreadId thread_;
  bool dropping_;  // the pool was found empty: no more waiting until it has a page

  // Scopes whose ends are expected and close nothing: of those that stack_ had no place for any
  // more, and of a parent's. What finds no entry is counted as unbalanced when it ends.
  struct Elided {
    uint32_t label;
    uint64_t scopes;  // 0: a free entry
  };
  static constexpr size_t kMaxElided = 16;
  Elided elided_[kMaxElided];

  // kNoLabel, the open scopes from the outermost on, kNoLabel.
  alignas(2 * kStackBytes) uint32_t stack_[kMaxOpenScopes + 2];
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_THREAD_BUFFER_H_
