// SPDX-License-Identifier: Apache-2.0
//
// The uncommon cases of the hot path: a page is full or too old, scopes end out of order or nest
// too deep, the pool is empty. Runs on the owning thread.
//
// Dropping: when no page comes within the bounded wait, events are counted, the stack of open
// scopes is still followed, and each further event looks (without a lock) whether a page is free.
// The page that ends the drop states how many events are missing before it and which scopes are
// open.
#include "libprofiler/thread_buffer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libprofiler/current_thread.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/signal_shield.h"

namespace gpubound {
namespace {

constexpr uint64_t kTicksInEra = UINT32_MAX;  // as a mask
constexpr uintptr_t kMemoryPage = 4096;
constexpr size_t kSlotsPerLine = 64 / sizeof(Slot);
constexpr size_t kPrefetchedLines = 4;  // 2 and 8 measure the same, 64 worse than none

}  // namespace

void ThreadBuffer::Attach(RecordingContext* context, ThreadId thread) noexcept {
  stack_[0] = kNoLabel;
  stack_[kMaxOpenScopes + 1] = kNoLabel;
  innermost_ = stack_;
  context_ = context;
  thread_ = thread;
}

void ThreadBuffer::Detach() noexcept {
  if (context_ == nullptr) return;
  const AtLock at_lock;
  const SignalBlock block;
  SubmitPage();
  context_ = nullptr;
  too_deep_ = 0;
}

void ThreadBuffer::SubmitPage() noexcept {
  if (cursor_ == nullptr) return;
  const uint32_t used = static_cast<uint32_t>(cursor_ - context_->mapping->slots(page_));
  context_->pool->Submit(page_, used);
  first_sequence_ += used;
  cursor_ = nullptr;
  limit_ = nullptr;
  page_end_ = nullptr;
}

bool ThreadBuffer::StartPage(uint64_t ticks) noexcept {
  if (dropping_ && !context_->pool->MayHavePage()) return false;
  const uint32_t page = context_->pool->Acquire(/*may_wait=*/!dropping_);
  dropping_ = page == kNoPage;
  if (dropping_) return false;

  base_ticks_ = ticks & ~kTicksInEra;
  LivePageHeader* header = context_->mapping->page(page);
  header->family = static_cast<uint32_t>(EventFamily::kThread);
  header->thread = Raw(thread_);
  header->open_depth = open_depth();
  header->base_ticks = base_ticks_;
  header->first_sequence = first_sequence_;
  header->dropped_before = dropped_;
  header->record_count = 0;
  for (uint32_t i = 0; i < open_depth(); ++i) {
    header->open_labels[i] = Raw(open_label(i)) & (kMaxLabels - 1);  // as a slot keeps it
  }
  std::atomic_ref<uint32_t>(header->state)
      .store(static_cast<uint32_t>(PageState::kOwned), std::memory_order_release);

  dropped_ = 0;
  page_ = page;
  cursor_ = context_->mapping->slots(page);
  limit_ = cursor_;
  page_end_ = cursor_ + kSlotsPerPage;
  OpenStretch();
  EnterEra(ticks);
  return true;
}

// For |ticks| that the page can express.
void ThreadBuffer::EnterEra(uint64_t ticks) noexcept {
  const uint64_t era_begin = ticks & ~kTicksInEra;
  era_ = ticks >> 32;
  begin_head_ = gpubound::MakeSlot(SlotKind::kBegin, LabelId{0}, era_begin - base_ticks_);
  end_head_ = gpubound::MakeSlot(SlotKind::kEnd, LabelId{0}, era_begin - base_ticks_);
}

// The next part of the page, and the cache lines of the one behind it on their way: the flusher
// zeroed them on another core, and no hardware prefetcher crosses the boundary of a memory page.
void ThreadBuffer::OpenStretch() noexcept {
  const uintptr_t boundary = (reinterpret_cast<uintptr_t>(limit_) / kMemoryPage + 1) * kMemoryPage;
  limit_ = std::min(reinterpret_cast<Slot*>(boundary), page_end_);
  const Slot* const behind = limit_;
  if (behind == page_end_) return;
  for (size_t line = 0; line < kPrefetchedLines; ++line) {
    __builtin_prefetch(behind + line * kSlotsPerLine, /*rw=*/1);
  }
}

// Leaves |slots| free slots in a page that can express |*ticks|, which moves forward when the clock
// ran backwards. False: the event cannot be stored, and was counted.
bool ThreadBuffer::MakeRoom(uint32_t slots, uint64_t* ticks) noexcept {
  if (context_->finished.load(std::memory_order_relaxed)) return false;
  if (page_end_ - cursor_ >= static_cast<ptrdiff_t>(slots)) {
    if (limit_ - cursor_ < static_cast<ptrdiff_t>(slots)) OpenStretch();
    if (static_cast<int64_t>(*ticks - base_ticks_) < 0) {
      context_->ledger->Add(LedgerCounter::clock_backwards, 1);
      *ticks = base_ticks_;
    }
    if (*ticks - base_ticks_ <= kMaxSlotTicks) {
      EnterEra(*ticks);
      return true;
    }
  }
  const AtLock at_lock;
  // A thread's first and last page are what short threads do most; a handler there that leaves by
  // _exit would have to wait until whoever closes the trace gives up the lock.
  std::optional<SignalBlock> block;
  if (cursor_ == nullptr) block.emplace();
  SubmitPage();
  if (StartPage(*ticks)) return true;
  CountDropped();
  return false;
}

void ThreadBuffer::CountDropped() noexcept {
  ++dropped_;
  context_->ledger->Add(LedgerCounter::scope_events_dropped, 1);
}

// Counts a scope of |label| that the stack has no room for, where the innermost one is like it: a
// recursion, whose time is the same however deep it is.
bool ThreadBuffer::OpenTooDeep(LabelId label) noexcept {
  if (open_depth() != kMaxOpenScopes) return false;
  context_->ledger->Add(LedgerCounter::scope_depth_exceeded, 1);
  if (stack_[kMaxOpenScopes] != Raw(label)) return false;
  ++too_deep_;
  innermost_ = &stack_[kMaxOpenScopes + 1];
  return true;
}

// Takes an end for that of a scope that the stack had no room for.
bool ThreadBuffer::CloseInnermostTooDeep(LabelId label) noexcept {
  if (too_deep_ == 0) return false;
  if (stack_[kMaxOpenScopes] != Raw(label)) {
    SetTooDeepAside();
    return false;
  }
  if (--too_deep_ == 0) --innermost_;
  return true;
}

void ThreadBuffer::SetTooDeepAside() noexcept {
  if (too_deep_ == 0) return;
  Elide(stack_[kMaxOpenScopes], too_deep_);
  too_deep_ = 0;
  --innermost_;
}

// Takes one scope off the full stack and returns it: the innermost that is open further out as
// well, as where a program leaves scopes by longjmp again and again, else the outermost. Of its
// label it is the innermost, as whoever reads an end takes it to be.
uint32_t ThreadBuffer::MakePlace() noexcept {
  SetTooDeepAside();
  uint32_t* place = innermost_;
  while (place > stack_ + 1 && std::find(stack_ + 1, place, *place) == place) --place;
  const uint32_t label = *place;
  Remove(place);
  Elide(label, 1);
  return label;
}

void ThreadBuffer::Remove(uint32_t* place) noexcept {
  std::copy(place + 1, innermost_ + 1, place);
  --innermost_;
}

void ThreadBuffer::Elide(uint32_t label, uint64_t scopes) noexcept {
  Elided* free = nullptr;
  for (Elided& elided : elided_) {
    if (elided.scopes == 0) {
      free = free == nullptr ? &elided : free;
    } else if (elided.label == label) {
      elided.scopes += scopes;
      return;
    }
  }
  if (free != nullptr) *free = {label, scopes};
}

bool ThreadBuffer::EndElided(LabelId label) noexcept {
  for (Elided& elided : elided_) {
    if (elided.scopes == 0 || elided.label != Raw(label)) continue;
    --elided.scopes;
    return true;
  }
  return false;
}

// Null: the calling thread has none and gets none. Else its buffer, where the begin is told.
ThreadBuffer* ThreadBuffer::AttachAt(uint64_t ticks) noexcept {
  ThreadBuffer* attached = AttachCallingThread(this);
  const uint64_t begun_by = attached == nullptr ? 0 : std::exchange(t_begun_by, 0);
  if (begun_by != 0) attached->EmitWithPayload(SlotKind::kWoken, LabelId{0}, begun_by, ticks);
  return attached;
}

void ThreadBuffer::BeginSlowPath(LabelId label, uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachAt(ticks);
    if (attached != nullptr) attached->Begin(label, ticks);
    return;
  }
  if (OpenTooDeep(label)) return;
  if (open_depth() == kMaxOpenScopes) {
    const auto outer = static_cast<LabelId>(MakePlace());
    if (MakeRoom(1, &ticks)) {
      Store(cursor_, gpubound::MakeSlot(SlotKind::kEnd, outer, ticks - base_ticks_));
    }
  }
  const bool room = MakeRoom(1, &ticks);
  *++innermost_ = Raw(label);
  if (room) Store(cursor_, gpubound::MakeSlot(SlotKind::kBegin, label, ticks - base_ticks_));
}

void ThreadBuffer::EndSlowPath(LabelId label, uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachAt(ticks);
    if (attached != nullptr) attached->End(label, ticks);
    return;
  }
  if (CloseInnermostTooDeep(label)) return;
  if (*innermost_ != Raw(label)) return EndOutOfOrder(label, ticks);
  const bool room = MakeRoom(1, &ticks);
  --innermost_;
  if (room) Store(cursor_, gpubound::MakeSlot(SlotKind::kEnd, label, ticks - base_ticks_));
}

void ThreadBuffer::EndOutOfOrder(LabelId label, uint64_t ticks) noexcept {
  uint32_t* place = innermost_;
  while (place > stack_ && *place != Raw(label)) --place;
  if (place <= stack_) {
    if (EndElided(label)) return;
    context_->ledger->Add(LedgerCounter::unbalanced_scopes, 1);
    return Emit(SlotKind::kUnbalanced, label, ticks);
  }
  if ((Raw(label) & kBlockScope) != 0) CloseBlocksInside(place, ticks);
  const bool room = MakeRoom(1, &ticks);
  Remove(place);
  if (room) Store(cursor_, gpubound::MakeSlot(SlotKind::kEnd, label, ticks - base_ticks_));
}

// The scope at |place| is a block of the program's text, and so is left after all blocks in it.
void ThreadBuffer::CloseBlocksInside(uint32_t* place, uint64_t ticks) noexcept {
  for (uint32_t* inside = innermost_; inside > place; --inside) {
    if ((*inside & kBlockScope) == 0) continue;
    const auto label = static_cast<LabelId>(*inside);
    context_->ledger->Add(LedgerCounter::unbalanced_scopes, 1);
    const bool room = MakeRoom(1, &ticks);
    Remove(inside);
    if (room) Store(cursor_, gpubound::MakeSlot(SlotKind::kEnd, label, ticks - base_ticks_));
  }
}

void ThreadBuffer::Emit(SlotKind kind, LabelId label, uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachAt(ticks);
    if (attached != nullptr) attached->Emit(kind, label, ticks);
    return;
  }
  if (!MakeRoom(1, &ticks)) return;
  Store(cursor_, gpubound::MakeSlot(kind, label, ticks - base_ticks_));
}

void ThreadBuffer::EmitWithPayload(SlotKind kind, LabelId label, uint64_t payload,
                                   uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachAt(ticks);
    if (attached != nullptr) attached->EmitWithPayload(kind, label, payload, ticks);
    return;
  }
  if (!MakeRoom(2, &ticks)) return;
  // The payload first: whoever sees the head, sees the payload too.
  __atomic_store_n(cursor_ + 1, payload, __ATOMIC_RELEASE);
  __atomic_store_n(cursor_, gpubound::MakeSlot(kind, label, ticks - base_ticks_), __ATOMIC_RELEASE);
  cursor_ += 2;
}

}  // namespace gpubound
