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

#include <cstring>

#include "libprofiler/current_thread.h"
#include "libprofiler/recording_context.h"

namespace gpubound {

void ThreadBuffer::Attach(RecordingContext* context, ThreadId thread) noexcept {
  context_ = context;
  thread_ = thread;
}

void ThreadBuffer::Detach() noexcept {
  if (context_ == nullptr) return;
  SubmitPage();
  context_ = nullptr;
  depth_ = 0;
}

void ThreadBuffer::SubmitPage() noexcept {
  if (cursor_ == nullptr) return;
  const uint32_t used = static_cast<uint32_t>(cursor_ - context_->mapping->slots(page_));
  context_->pool->Submit(page_, used);
  first_sequence_ += used;
  cursor_ = nullptr;
  limit_ = nullptr;
}

bool ThreadBuffer::StartPage(uint64_t ticks) noexcept {
  if (dropping_ && !context_->pool->MayHavePage()) return false;
  const uint32_t page = context_->pool->Acquire(/*may_wait=*/!dropping_);
  dropping_ = page == kNoPage;
  if (dropping_) return false;

  LivePageHeader* header = context_->mapping->page(page);
  header->family = static_cast<uint32_t>(EventFamily::kThread);
  header->thread = Raw(thread_);
  header->open_depth = open_depth();
  header->base_ticks = ticks;
  header->first_sequence = first_sequence_;
  header->dropped_before = dropped_;
  header->record_count = 0;
  std::memcpy(header->open_labels, open_, sizeof(LabelId) * open_depth());
  std::atomic_ref<uint32_t>(header->state)
      .store(static_cast<uint32_t>(PageState::kOwned), std::memory_order_release);

  dropped_ = 0;
  page_ = page;
  base_ticks_ = ticks;
  max_since_ = kMaxSlotTicks;
  cursor_ = context_->mapping->slots(page);
  limit_ = cursor_ + kSlotsPerPage;
  return true;
}

// Leaves |slots| free slots in a page that can express |*ticks|, which moves forward when the clock
// ran backwards. False: the event cannot be stored, and was counted.
bool ThreadBuffer::MakeRoom(uint32_t slots, uint64_t* ticks) noexcept {
  if (context_->finished.load(std::memory_order_relaxed)) return false;
  if (limit_ - cursor_ >= static_cast<ptrdiff_t>(slots)) {
    if (*ticks - base_ticks_ <= kMaxSlotTicks) return true;
    if (static_cast<int64_t>(*ticks - base_ticks_) < 0) {
      context_->ledger->Add(LedgerCounter::clock_backwards, 1);
      *ticks = base_ticks_;
      return true;
    }
  }
  SubmitPage();
  if (StartPage(*ticks)) return true;
  CountDropped();
  return false;
}

void ThreadBuffer::CountDropped() noexcept {
  ++dropped_;
  context_->ledger->Add(LedgerCounter::scope_events_dropped, 1);
}

void ThreadBuffer::BeginSlowPath(LabelId label, uint64_t since) noexcept {
  uint64_t ticks = base_ticks_ + since;
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachCallingThread(this);
    if (attached != nullptr) attached->Begin(label, ticks);
    return;
  }
  if (depth_ >= kMaxOpenScopes) {
    ++depth_;
    context_->ledger->Add(LedgerCounter::scope_depth_exceeded, 1);
    return;
  }
  const bool room = MakeRoom(1, &ticks);
  open_[depth_++] = label;
  if (room) Store(cursor_, MakeSlot(SlotKind::kBegin, label, ticks - base_ticks_));
}

void ThreadBuffer::EndSlowPath(LabelId label, uint64_t since) noexcept {
  uint64_t ticks = base_ticks_ + since;
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachCallingThread(this);
    if (attached != nullptr) attached->End(label, ticks);
    return;
  }
  if (depth_ > kMaxOpenScopes) {  // a scope that was too deep to have an entry
    --depth_;
    return;
  }
  if (depth_ == 0 || open_[depth_ - 1] != label) return EndOutOfOrder(label, ticks);
  const bool room = MakeRoom(1, &ticks);
  --depth_;
  if (room) Store(cursor_, MakeSlot(SlotKind::kEnd, label, ticks - base_ticks_));
}

void ThreadBuffer::EndOutOfOrder(LabelId label, uint64_t ticks) noexcept {
  uint32_t index = depth_;
  while (index != 0 && open_[index - 1] != label) --index;
  if (index == 0) {
    context_->ledger->Add(LedgerCounter::unbalanced_scopes, 1);
    return Emit(SlotKind::kUnbalanced, label, ticks);
  }
  const bool room = MakeRoom(1, &ticks);
  std::memmove(&open_[index - 1], &open_[index], sizeof(LabelId) * (depth_ - index));
  --depth_;
  if (room) Store(cursor_, MakeSlot(SlotKind::kEnd, label, ticks - base_ticks_));
}

void ThreadBuffer::Emit(SlotKind kind, LabelId label, uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachCallingThread(this);
    if (attached != nullptr) attached->Emit(kind, label, ticks);
    return;
  }
  if (!MakeRoom(1, &ticks)) return;
  Store(cursor_, MakeSlot(kind, label, ticks - base_ticks_));
}

void ThreadBuffer::EmitWithPayload(SlotKind kind, LabelId label, uint64_t payload,
                                   uint64_t ticks) noexcept {
  if (context_ == nullptr) {
    ThreadBuffer* attached = AttachCallingThread(this);
    if (attached != nullptr) attached->EmitWithPayload(kind, label, payload, ticks);
    return;
  }
  if (!MakeRoom(2, &ticks)) return;
  // The payload first: whoever sees the head, sees the payload too.
  __atomic_store_n(cursor_ + 1, payload, __ATOMIC_RELEASE);
  __atomic_store_n(cursor_, MakeSlot(kind, label, ticks - base_ticks_), __ATOMIC_RELEASE);
  cursor_ += 2;
}

}  // namespace gpubound
