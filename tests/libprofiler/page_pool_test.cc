// SPDX-License-Identifier: Apache-2.0
//
// The way of pages through the pool.
#include "libprofiler/page_pool.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "tests/cupti_hooks/allocation_count.h"
#include "tests/libprofiler/recording_fixture.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PagePoolTest : public RecordingFixture {
 protected:
  PagePoolTest() : RecordingFixture(8) {}

  uint32_t AcquireOwned() {
    const uint32_t page = pool_->Acquire(/*may_wait=*/false);
    if (page != kNoPage) {
      mapping_->page(page)->family = static_cast<uint32_t>(EventFamily::kThread);
      mapping_->page(page)->state = static_cast<uint32_t>(PageState::kOwned);
    }
    return page;
  }
  std::vector<uint32_t> TakeFullPages(size_t max = SIZE_MAX) {
    std::vector<PagePool::FullPage> full;
    pool_->TakeFull(max, &full, nullptr);
    std::vector<uint32_t> pages;
    for (const PagePool::FullPage& page : full) pages.push_back(page.page);
    return pages;
  }
};

TEST_F(PagePoolTest, HandsOutEachPageOnce) {
  std::set<uint32_t> pages;
  for (uint32_t i = 0; i < 8; ++i) pages.insert(AcquireOwned());
  EXPECT_EQ(pages.size(), 8u);
  EXPECT_EQ(pool_->Acquire(false), kNoPage);
  EXPECT_FALSE(pool_->MayHavePage());
}

TEST_F(PagePoolTest, FullPagesComeOutInTheOrderTheyWereSubmitted) {
  const uint32_t a = AcquireOwned();
  const uint32_t b = AcquireOwned();
  pool_->Submit(b, 1);
  pool_->Submit(a, 1);
  EXPECT_THAT(TakeFullPages(), ElementsAre(b, a));
}

TEST_F(PagePoolTest, ABatchIsBounded) {
  for (int i = 0; i < 3; ++i) pool_->Submit(AcquireOwned(), 1);
  EXPECT_EQ(TakeFullPages(2).size(), 2u);
  EXPECT_TRUE(pool_->HasFullPages());
  EXPECT_EQ(TakeFullPages(2).size(), 1u);
}

TEST_F(PagePoolTest, RecycledPagesAreZeroAndFree) {
  const uint32_t page = AcquireOwned();
  mapping_->slots(page)[0] = 1;
  mapping_->slots(page)[1] = 2;
  pool_->Submit(page, 2);
  pool_->Recycle({{page, 2}});
  EXPECT_EQ(mapping_->slots(page)[0], 0u);
  EXPECT_EQ(mapping_->slots(page)[1], 0u);
  EXPECT_EQ(mapping_->page(page)->state, static_cast<uint32_t>(PageState::kFree));
}

TEST_F(PagePoolTest, TheHottestPageIsGivenOutFirst) {
  const uint32_t a = AcquireOwned();
  AcquireOwned();
  pool_->Submit(a, 0);
  pool_->Recycle({{TakeFullPages()[0], 0}});
  EXPECT_EQ(AcquireOwned(), a);
}

TEST_F(PagePoolTest, OwnedPagesAreListedUntilTheyAreSubmitted) {
  const uint32_t a = AcquireOwned();
  const uint32_t b = AcquireOwned();
  pool_->Submit(a, 1);
  std::vector<PagePool::FullPage> full;
  std::vector<uint32_t> owned;
  pool_->TakeFull(SIZE_MAX, &full, &owned);
  EXPECT_THAT(owned, ElementsAre(b));
}

TEST_F(PagePoolTest, OwnedPagesAreNotListedWhileFullOnesAreLeftBehind) {
  AcquireOwned();
  pool_->Submit(AcquireOwned(), 1);
  pool_->Submit(AcquireOwned(), 1);
  std::vector<PagePool::FullPage> full;
  std::vector<uint32_t> owned;
  pool_->TakeFull(1, &full, &owned);
  EXPECT_THAT(owned, IsEmpty());
}

TEST_F(PagePoolTest, AnEmptyPoolIsWaitedForABoundedTimeAndThenRefused) {
  for (int i = 0; i < 8; ++i) AcquireOwned();
  EXPECT_EQ(pool_->Acquire(/*may_wait=*/true), kNoPage);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 1u);
}

TEST_F(PagePoolTest, AWaitingWriterGetsThePageThatIsRecycled) {
  for (int i = 0; i < 7; ++i) AcquireOwned();
  const uint32_t last = AcquireOwned();
  // Whoever comes first, the flusher that recycles or the writer that waits, the page is had.
  uint32_t got = kNoPage;
  std::thread writer([&] {
    while (got == kNoPage) got = pool_->Acquire(/*may_wait=*/true);
  });
  pool_->Submit(last, 0);
  pool_->Recycle({{last, 0}});
  writer.join();
  EXPECT_EQ(got, last);
}

TEST_F(PagePoolTest, FaultingAheadLosesNoPage) {
  AcquireOwned();
  pool_->PrefaultAhead();
  for (int i = 1; i < 8; ++i) EXPECT_NE(AcquireOwned(), kNoPage);
  EXPECT_EQ(AcquireOwned(), kNoPage);
}

// A writer comes here out of an annotation, which cannot fail.
TEST_F(PagePoolTest, SubmittingAllocatesNothingAlsoOfPagesThatWereAdded) {
  const auto mapping = LiveMapping::Create("", 2, {11, 22, 33, true}, 100);
  PagePool pool(mapping.get(), ledger_.get());
  ASSERT_TRUE(mapping->AddPages(100));
  pool.PagesAdded(100);
  std::vector<uint32_t> pages(102);
  for (uint32_t& page : pages) page = pool.Acquire(/*may_wait=*/false);
  const uint64_t before = AllocationsOfThisThread();
  for (const uint32_t page : pages) pool.Submit(page, 0);
  EXPECT_EQ(AllocationsOfThisThread(), before);
}

TEST_F(PagePoolTest, AWakeUpBeforeTheWaitIsNotLost) {
  pool_->Wake();
  pool_->WaitForWork(std::chrono::hours(1));  // returns at once, or the test times out
}

}  // namespace
}  // namespace gpubound
