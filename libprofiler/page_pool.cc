// SPDX-License-Identifier: Apache-2.0
//
// Hands pages between writers and the flusher. What happens with a page's content is the business
// of the writer (thread_buffer.cc, record_sink.cc) and of the flusher.
#include "libprofiler/page_pool.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "libprofiler/clock.h"

namespace gpubound {
namespace {

constexpr uint32_t kFaultedAtStart = 1;  // taken on the caller's time, 25 us
constexpr uint32_t kFaultedAhead = 16;
constexpr int kYieldsBeforeSleep = 4;

// An eighth of the pool: a second's worth of wake-ups stays in the hundreds at full speed, and the
// rest of the pool covers the time until the flusher gets a core.
uint32_t WakeThreshold(uint32_t pages) { return std::clamp<uint32_t>(pages / 8, 1, 32); }

uint32_t BytesPerEvent(uint32_t family) {
  switch (static_cast<EventFamily>(family)) {
    case EventFamily::kApi:
      return sizeof(ApiRecord);
    case EventFamily::kDevice:
      return sizeof(DeviceRecord);
    case EventFamily::kSync:
      return sizeof(SyncRecord);
    case EventFamily::kOverhead:
      return sizeof(OverheadRecord);
    case EventFamily::kCpuTime:
      return sizeof(CpuTimeRecord);
    case EventFamily::kStack:
      return sizeof(StackRecord);
    default:
      return sizeof(Slot);
  }
}

}  // namespace

PagePool::PagePool(LiveMapping* mapping, Ledger* ledger)
    : mapping_(mapping),
      ledger_(ledger),
      wake_threshold_(WakeThreshold(mapping->page_count())),
      owned_(mapping->most_pages(), false) {
  // For as many as there can ever be: handing a page on needs no memory.
  free_.reserve(mapping->most_pages());
  full_.reserve(mapping->most_pages());
  for (; next_fresh_ < std::min(kFaultedAtStart, mapping->page_count()); ++next_fresh_) {
    mapping_->Prefault(next_fresh_);
    free_.push_back(next_fresh_);
  }
  available_ = mapping->page_count();
}

uint32_t PagePool::PopFreeLocked() {
  uint32_t page = kNoPage;
  if (!free_.empty()) {
    page = free_.back();
    free_.pop_back();
  } else if (next_fresh_ < mapping_->page_count()) {
    page = next_fresh_++;  // its faults fall on the writer; PrefaultAhead came too late
  } else {
    return kNoPage;
  }
  owned_[page] = true;
  available_.fetch_sub(1, std::memory_order_relaxed);
  return page;
}

bool PagePool::WaitForPageLocked(std::unique_lock<std::mutex>* lock) {
  ledger_->Add(LedgerCounter::backpressure_waits, 1);
  ++waiters_;
  if (flusher_waits_) work_.Set();
  for (int i = 0; i < kYieldsBeforeSleep && !HasFreeLocked(); ++i) {
    lock->unlock();
    sched_yield();
    lock->lock();
  }
  const bool free = page_free_.wait_for(*lock, kMaxWait, [this] { return HasFreeLocked(); });
  --waiters_;
  return free;
}

uint32_t PagePool::Acquire(bool may_wait) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (may_wait && !HasFreeLocked() && !WaitForPageLocked(&lock)) return kNoPage;
  return PopFreeLocked();
}

void PagePool::Submit(uint32_t page, uint32_t used) {
  std::atomic_ref<uint32_t>(mapping_->page(page)->state)
      .store(static_cast<uint32_t>(PageState::kFull), std::memory_order_release);
  bool wake = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    owned_[page] = false;
    full_.push_back({page, used});
    wake = flusher_waits_ && full_.size() >= wake_threshold_;
  }
  // After the unlock: the flusher, woken on this core, would find the lock taken and hand it back.
  if (wake) work_.Set();
}

// Whether the flusher has something to do; where not, the next who has something for it will wake
// it.
bool PagePool::HasWork() {
  const std::lock_guard<std::mutex> lock(mutex_);
  flusher_waits_ = !wake_.exchange(false, std::memory_order_acquire) &&
                   full_.size() < wake_threshold_ && (waiters_ == 0 || full_.empty());
  return !flusher_waits_;
}

bool PagePool::WaitForWork(std::chrono::nanoseconds timeout) {
  const uint64_t deadline_ns = ReadMonotonicNs() + static_cast<uint64_t>(timeout.count());
  bool has_work = HasWork();
  while (!has_work) {
    const auto left_ns = static_cast<int64_t>(deadline_ns - ReadMonotonicNs());
    if (left_ns <= 0) break;
    work_.Wait(left_ns);
    has_work = HasWork();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  flusher_waits_ = false;
  return has_work;
}

void PagePool::Wake() noexcept {
  wake_.store(true, std::memory_order_release);
  work_.Set();
}

void PagePool::TakeFull(size_t max_full, std::vector<FullPage>* full,
                        std::vector<uint32_t>* owned) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t taken = std::min(max_full, full_.size());
  const auto end = full_.begin() + static_cast<ptrdiff_t>(taken);
  full->insert(full->end(), full_.begin(), end);
  full_.erase(full_.begin(), end);
  if (owned == nullptr || !full_.empty()) return;
  for (uint32_t page = 0; page < next_fresh_; ++page) {
    if (owned_[page]) owned->push_back(page);
  }
}

void PagePool::PagesAdded(uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  available_.fetch_add(count, std::memory_order_relaxed);
  if (waiters_ != 0) page_free_.notify_all();
}

bool PagePool::HasFullPages() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !full_.empty();
}

void PagePool::Recycle(const std::vector<FullPage>& pages) {
  for (const FullPage& full : pages) {
    LivePageHeader* header = mapping_->page(full.page);
    const size_t bytes = size_t{full.used} * BytesPerEvent(header->family);
    // The state goes first: a reader after a kill in the middle of this sees no half-zeroed page.
    std::atomic_ref<uint32_t>(header->state)
        .store(static_cast<uint32_t>(PageState::kFree), std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a kill is ordered like a signal
    std::memset(mapping_->body(full.page), 0, bytes);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const FullPage& full : pages) free_.push_back(full.page);
  available_.fetch_add(static_cast<uint32_t>(pages.size()), std::memory_order_relaxed);
  if (waiters_ != 0) page_free_.notify_all();
}

void PagePool::PrefaultAhead() {
  for (;;) {
    uint32_t page = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (free_.size() >= kFaultedAhead || next_fresh_ == mapping_->page_count()) return;
      page = next_fresh_++;
      available_.fetch_sub(1, std::memory_order_relaxed);
    }
    mapping_->Prefault(page);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(page);
    available_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace gpubound
