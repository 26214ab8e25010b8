// SPDX-License-Identifier: Apache-2.0
//
// The bounded set of pages in the live mapping, and their way round:
//
//        Acquire            Submit              TakeFull            Recycle
//   free -------> owned ----------> full queue ---------> flusher ----------> free
//        (writer)        (writer)                (flusher)        (zeroed by the flusher)
//
// A writer that handlers of the program may interrupt sees to it that they do not come here too
// (thread_buffer.cc). Writers are any threads; there is one flusher. One lock, taken once per page
// of some 4,000 scopes and never per event; it ranks above the sink's and below the interner's.
#ifndef GPUBOUND_LIBPROFILER_PAGE_POOL_H_
#define GPUBOUND_LIBPROFILER_PAGE_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "libprofiler/ledger.h"
#include "libprofiler/live_mapping.h"
#include "libprofiler/wake_signal.h"

namespace gpubound {

inline constexpr uint32_t kNoPage = UINT32_MAX;

class PagePool {
 public:
  struct FullPage {
    uint32_t page;
    uint32_t used;  // slots or records
  };

  // Both outlive the pool.
  PagePool(LiveMapping* mapping, Ledger* ledger);

  // A zeroed page for the caller to own, or kNoPage. With |may_wait| an empty pool is waited for,
  // at most kMaxWait: the bound on what recording can ever add to a thread of the program at once.
  uint32_t Acquire(bool may_wait);

  // Whether Acquire(false) has a chance; no lock.
  bool MayHavePage() const { return available_.load(std::memory_order_relaxed) != 0; }

  // Hands over an owned page that holds |used| slots or records, for good.
  void Submit(uint32_t page, uint32_t used);

  // Flusher: waits until enough pages are full, somebody waits for one, or Wake(): true; or for
  // |timeout|.
  bool WaitForWork(std::chrono::nanoseconds timeout);
  // Without a lock: also in a signal handler.
  void Wake() noexcept;

  // The mapping has |count| pages more than before.
  void PagesAdded(uint32_t count);

  // Flusher: appends up to |max_full| full pages, oldest first, and, when |owned| is not null and
  // no full page was left behind, every page that a writer holds: both as of one instant, so that
  // what precedes a page of |owned| on its thread is in |full| or was taken before.
  void TakeFull(size_t max_full, std::vector<FullPage>* full, std::vector<uint32_t>* owned);

  // Flusher: zeroes pages that are in the database, or given up, and frees them.
  void Recycle(const std::vector<FullPage>& pages);

  // Flusher: takes the page faults of a few pages that were never used, ahead of need.
  void PrefaultAhead();

  bool HasFullPages();

  static constexpr std::chrono::milliseconds kMaxWait{20};

 private:
  bool HasWork();
  bool HasFreeLocked() const { return !free_.empty() || next_fresh_ < mapping_->page_count(); }
  uint32_t PopFreeLocked();
  bool WaitForPageLocked(std::unique_lock<std::mutex>* lock);

  LiveMapping* const mapping_;
  Ledger* const ledger_;
  const uint32_t wake_threshold_;  // full pages that are worth waking the flusher for

  std::mutex mutex_;
  WakeSignal work_;                    // the flusher waits here
  std::condition_variable page_free_;  // writers wait here
  std::vector<uint32_t> free_;         // last in, first out: the cache still holds it
  std::vector<FullPage> full_;         // first in, first out; reversed batches never arise
  std::vector<bool> owned_;            // by page: between Acquire and Submit
  uint32_t next_fresh_ = 0;            // pages from here on were never used nor faulted in
  uint32_t waiters_ = 0;
  bool flusher_waits_ = false;
  std::atomic<bool> wake_{false};
  std::atomic<uint32_t> available_{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PAGE_POOL_H_
