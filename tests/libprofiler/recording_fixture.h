// SPDX-License-Identifier: Apache-2.0
//
// Writers of pages without anything behind them: a small mapping in memory, its pool and one thread
// buffer, whose slots a test reads directly.
#ifndef GPUBOUND_TESTS_LIBPROFILER_RECORDING_FIXTURE_H_
#define GPUBOUND_TESTS_LIBPROFILER_RECORDING_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "libprofiler/page_pool.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/thread_buffer.h"

namespace gpubound {

class RecordingFixture : public testing::Test {
 protected:
  explicit RecordingFixture(uint32_t pages = 4) {
    mapping_ = LiveMapping::Create("", pages, {1, 2, 3, true});
    // Without a file the counter live_mapping_unavailable is set, which is not what is tested here.
    ledger_ = std::make_unique<Ledger>(mapping_->header()->ledger);
    pool_ = std::make_unique<PagePool>(mapping_.get(), ledger_.get());
    context_.mapping = mapping_.get();
    context_.pool = pool_.get();
    context_.ledger = ledger_.get();
    buffer_.Attach(&context_, ThreadId{1});
  }

  static LabelId L(uint32_t id) { return static_cast<LabelId>(id); }
  uint64_t Count(LedgerCounter counter) const { return ledger_->Get(counter); }

  // Every slot written so far, page by page, in the order in which the pages were taken.
  std::vector<Slot> Slots() {
    std::vector<Slot> slots;
    for (const uint32_t page : PagesInOrder()) {
      const Slot* begin = mapping_->slots(page);
      for (uint32_t i = 0; i < kSlotsPerPage && begin[i] != 0;) {
        const uint32_t length = HasPayload(KindOf(begin[i])) ? 2 : 1;
        for (uint32_t k = 0; k < length; ++k) slots.push_back(begin[i + k]);
        i += length;
      }
    }
    return slots;
  }

  std::vector<uint32_t> PagesInOrder() {
    std::vector<uint32_t> pages;
    for (uint32_t page = 0; page < mapping_->page_count(); ++page) {
      if (mapping_->page(page)->state != static_cast<uint32_t>(PageState::kFree)) {
        pages.push_back(page);
      }
    }
    std::sort(pages.begin(), pages.end(), [this](uint32_t a, uint32_t b) {
      return mapping_->page(a)->first_sequence < mapping_->page(b)->first_sequence;
    });
    return pages;
  }

  const LivePageHeader& NewestPage() { return *mapping_->page(PagesInOrder().back()); }

  // Opens and closes scopes until exactly |slots| slots are left in the current page.
  void FillPageUntilLeft(uint32_t slots, uint64_t ticks) {
    for (uint32_t used = 0; used < kSlotsPerPage - slots; used += 2) {
      buffer_.Begin(L(9), ticks);
      if (used + 1 < kSlotsPerPage - slots) buffer_.End(L(9), ticks);
    }
  }

  void FlushAllFullPages() {
    std::vector<PagePool::FullPage> full;
    pool_->TakeFull(SIZE_MAX, &full, nullptr);
    pool_->Recycle(full);
  }

  std::unique_ptr<LiveMapping> mapping_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<PagePool> pool_;
  RecordingContext context_;
  ThreadBuffer buffer_ = {};
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_RECORDING_FIXTURE_H_
