// SPDX-License-Identifier: Apache-2.0
//
// Record pages: publication, families side by side, hand-over, dropping.
#include "libprofiler/record_sink.h"

#include <algorithm>
#include <cstring>

#include "tests/libprofiler/recording_fixture.h"

namespace gpubound {
namespace {

class RecordSinkTest : public RecordingFixture {
 protected:
  static constexpr uint32_t kApiPerPage = kPageBodyBytes / sizeof(ApiRecord);

  static ApiRecord Api(uint32_t correlation) {
    return {.start_ns = 1,
            .end_ns = 2,
            .correlation = correlation,
            .tid = 3,
            .label = L(4),
            .result = 0};
  }
  void AppendApi(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) sink_.Append(Api(next_++));
  }
  const LivePageHeader& Page(size_t index) { return *mapping_->page(PagesInOrder().at(index)); }

  RecordSink sink_{&context_, ThreadId{7}};
  uint32_t next_ = 0;
};

TEST_F(RecordSinkTest, RecordsBecomeVisibleWhenTheyArePublished) {
  AppendApi(2);
  EXPECT_EQ(Page(0).record_count, 0u);
  sink_.Publish();
  EXPECT_EQ(Page(0).record_count, 2u);
  EXPECT_EQ(Page(0).family, static_cast<uint32_t>(EventFamily::kApi));
  EXPECT_EQ(Page(0).thread, 7u);
}

TEST_F(RecordSinkTest, ARecordIsStoredAsItIs) {
  AppendApi(1);
  const ApiRecord stored =
      *reinterpret_cast<const ApiRecord*>(mapping_->body(PagesInOrder().at(0)));
  EXPECT_EQ(stored.start_ns, 1u);
  EXPECT_EQ(stored.label, L(4));
}

TEST_F(RecordSinkTest, EveryFamilyHasAPageOfItsOwn) {
  sink_.Append(Api(1));
  sink_.Append(DeviceRecord{});
  sink_.Append(SyncRecord{});
  sink_.Append(OverheadRecord{});
  EXPECT_EQ(PagesInOrder().size(), 4u);
}

TEST_F(RecordSinkTest, AFullPageIsHandedOverAndTheSequenceGoesOn) {
  AppendApi(kApiPerPage + 1);
  EXPECT_EQ(Page(0).record_count, kApiPerPage);
  EXPECT_EQ(Page(0).state, static_cast<uint32_t>(PageState::kFull));
  EXPECT_EQ(Page(1).first_sequence, kApiPerPage);
}

TEST_F(RecordSinkTest, WithoutAPageRecordsAreDroppedAndCountedAndTheNextPageSaysSo) {
  AppendApi(4 * kApiPerPage + 3);
  EXPECT_EQ(Count(LedgerCounter::device_records_dropped), 3u);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 1u);
  FlushAllFullPages();
  AppendApi(1);
  EXPECT_EQ(Page(0).dropped_before, 3u);
  EXPECT_EQ(Page(0).first_sequence, 4 * kApiPerPage);
}

// By the flusher, for whom nobody would free a page.
TEST_F(RecordSinkTest, ARecordOfAStackWithoutAPageIsDroppedAtOnceAndItsOwnerKnows) {
  constexpr uint32_t kPerPage = kPageBodyBytes / sizeof(StackRecord);
  for (uint32_t i = 0; i < 4 * kPerPage; ++i) sink_.Append(StackRecord{});
  EXPECT_EQ(sink_.dropped_stacks(), 0u);
  EXPECT_EQ(Page(0).family, static_cast<uint32_t>(EventFamily::kStack));
  for (uint32_t i = 0; i < 3; ++i) sink_.Append(StackRecord{});
  EXPECT_EQ(sink_.dropped_stacks(), 3u);
  EXPECT_EQ(Count(LedgerCounter::device_records_dropped), 0u);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 0u);
  FlushAllFullPages();
  sink_.Append(StackRecord{});
  EXPECT_EQ(Page(0).dropped_before, 3u);
  EXPECT_EQ(Page(0).first_sequence, 4 * kPerPage);
  EXPECT_EQ(sink_.dropped_stacks(), 3u);
}

TEST_F(RecordSinkTest, APageOfStacksIsZeroedWholeBeforeAnotherWriterGetsIt) {
  StackRecord record;
  std::memset(&record, 0xff, sizeof(record));
  for (uint32_t i = 0; i < kPageBodyBytes / sizeof(record); ++i) sink_.Append(record);
  sink_.Append(record);  // hands the full page over
  const uint32_t page = PagesInOrder().front();
  FlushAllFullPages();
  const char* body = mapping_->body(page);
  EXPECT_TRUE(std::all_of(body, body + kPageBodyBytes, [](char byte) { return byte == 0; }));
}

TEST_F(RecordSinkTest, OnceTheRecordingIsFinishedNothingIsTakenOrCounted) {
  context_.finished = true;
  AppendApi(1);
  sink_.Publish();
  EXPECT_TRUE(PagesInOrder().empty());
  EXPECT_EQ(Count(LedgerCounter::device_records_dropped), 0u);
}

}  // namespace
}  // namespace gpubound
