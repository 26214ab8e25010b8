// SPDX-License-Identifier: Apache-2.0
//
// The hot path and its slow paths, slot by slot, with ticks that the test chooses.
#include "libprofiler/thread_buffer.h"

#include <gmock/gmock.h>

#include "tests/libprofiler/recording_fixture.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kEra = uint64_t{1} << 32;  // in ticks, as thread_buffer.h has it

class ThreadBufferTest : public RecordingFixture {
 protected:
  std::vector<uint32_t> OpenLabels() {
    std::vector<uint32_t> labels;
    for (uint32_t i = 0; i < buffer_.open_depth(); ++i) {
      labels.push_back(Raw(buffer_.open_label(i)));
    }
    return labels;
  }
  // Leaves no page anywhere: the buffer's is full and nobody flushes the others.
  void ExhaustPool() {
    while (Count(LedgerCounter::scope_events_dropped) == 0) buffer_.Emit(SlotKind::kMark, L(9), 50);
  }
};

TEST_F(ThreadBufferTest, NothingIsTakenFromThePoolBeforeTheFirstEvent) {
  EXPECT_THAT(PagesInOrder(), IsEmpty());
}

TEST_F(ThreadBufferTest, AScopeIsTwoSlotsStampedFromTheBeginOfTheErasOfThePage) {
  buffer_.Begin(L(5), 3 * kEra + 1000);
  buffer_.End(L(5), 3 * kEra + 1040);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kBegin, L(5), 1000),
                                   MakeSlot(SlotKind::kEnd, L(5), 1040)));
  EXPECT_EQ(NewestPage().base_ticks, 3 * kEra);
  EXPECT_EQ(NewestPage().thread, 1u);
  EXPECT_EQ(NewestPage().first_sequence, 0u);
}

TEST_F(ThreadBufferTest, APageGoesOnIntoTheNextEra) {
  buffer_.Begin(L(5), kEra - 1);
  buffer_.End(L(5), kEra);
  buffer_.Begin(L(6), 2 * kEra + 7);
  buffer_.End(L(6), 2 * kEra + 8);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kBegin, L(5), kEra - 1),
                                   MakeSlot(SlotKind::kEnd, L(5), kEra),
                                   MakeSlot(SlotKind::kBegin, L(6), 2 * kEra + 7),
                                   MakeSlot(SlotKind::kEnd, L(6), 2 * kEra + 8)));
  EXPECT_EQ(PagesInOrder().size(), 1u);
}

TEST_F(ThreadBufferTest, AClockThatRunsBackIntoAnEarlierEraIsFollowed) {
  buffer_.Begin(L(5), kEra - 1);
  buffer_.Begin(L(6), kEra + 5);
  buffer_.End(L(6), kEra - 2);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kEnd, L(6), kEra - 2));
}

TEST_F(ThreadBufferTest, NestedScopesAreFollowedOnTheStack) {
  buffer_.Begin(L(5), 10);
  buffer_.Begin(L(6), 20);
  EXPECT_THAT(OpenLabels(), ElementsAre(5u, 6u));
  buffer_.End(L(6), 30);
  EXPECT_THAT(OpenLabels(), ElementsAre(5u));
}

TEST_F(ThreadBufferTest, AScopeMayNestInItself) {
  buffer_.Begin(L(5), 10);
  buffer_.Begin(L(5), 20);
  buffer_.End(L(5), 30);
  EXPECT_THAT(OpenLabels(), ElementsAre(5u));
  EXPECT_EQ(Slots().size(), 3u);
}

TEST_F(ThreadBufferTest, AnEndOutOfOrderClosesTheInnermostScopeOfItsLabel) {
  buffer_.Begin(L(5), 10);
  buffer_.Begin(L(6), 20);
  buffer_.Begin(L(7), 30);
  buffer_.End(L(6), 40);
  EXPECT_THAT(OpenLabels(), ElementsAre(5u, 7u));
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kEnd, L(6), 40));
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 0u);
}

TEST_F(ThreadBufferTest, AnEndWithoutABeginIsMarkedCountedAndClosesNothing) {
  buffer_.Begin(L(5), 10);
  buffer_.End(L(6), 20);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kUnbalanced, L(6), 20));
  EXPECT_THAT(OpenLabels(), ElementsAre(5u));
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 1u);
}

TEST_F(ThreadBufferTest, NoLabelThatAProgramCanPassClosesTheBottomOfTheStack) {
  buffer_.Begin(L(5), 10);
  buffer_.End(L(5), 20);
  buffer_.End(L(UINT32_MAX), 30);
  EXPECT_THAT(OpenLabels(), IsEmpty());
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 1u);
}

TEST_F(ThreadBufferTest, ALabelMadeUpToClosePastTheBottomLeavesNothingOpen) {
  buffer_.Begin(L(5), 10);
  buffer_.End(L(5), 20);
  for (int i = 0; i < 3; ++i) buffer_.End(L(0x9e5ca1ed), 30);
  EXPECT_EQ(buffer_.open_depth(), 0u);
  for (uint64_t i = 0; i < kSlotsPerPage; ++i) buffer_.Emit(SlotKind::kMark, L(9), 40);
  EXPECT_EQ(NewestPage().open_depth, 0u);
}

TEST_F(ThreadBufferTest, ALabelTooLargeForASlotLeavesItsKindAndTimeAlone) {
  buffer_.Begin(L(5), 1000);
  buffer_.Begin(L(UINT32_MAX), 1040);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kBegin, L(kMaxLabels - 1), 1040));
}

TEST_F(ThreadBufferTest, AnEndAsTheVeryFirstCallIsMarked) {
  buffer_.End(L(6), 20);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kUnbalanced, L(6), 20)));
}

TEST_F(ThreadBufferTest, ARecursionDeeperThanTheStackIsCountedAndCostsNoSlots) {
  for (uint32_t i = 0; i < kMaxOpenScopes + 2; ++i) buffer_.Begin(L(5), 10);
  buffer_.End(L(5), 30);
  buffer_.End(L(5), 30);
  EXPECT_EQ(Slots().size(), kMaxOpenScopes);
  EXPECT_EQ(Count(LedgerCounter::scope_depth_exceeded), 2u);
  buffer_.End(L(5), 40);
  EXPECT_EQ(buffer_.open_depth(), kMaxOpenScopes - 1);
  EXPECT_EQ(Slots().size(), kMaxOpenScopes + 1);
}

TEST_F(ThreadBufferTest, AScopeDeeperThanTheStackIsRecordedInPlaceOfOneFurtherOut) {
  for (uint32_t i = 0; i < kMaxOpenScopes; ++i) buffer_.Begin(L(5), 10);
  buffer_.Begin(L(6), 20);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kBegin, L(6), 20));
  EXPECT_EQ(buffer_.open_depth(), kMaxOpenScopes);
  buffer_.End(L(6), 30);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kEnd, L(6), 30));
  for (uint32_t i = 0; i < kMaxOpenScopes; ++i) buffer_.End(L(5), 40);
  EXPECT_EQ(buffer_.open_depth(), 0u);
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 0u) << "the end of the one is expected";
}

TEST_F(ThreadBufferTest, RecordingGoesOnBeyondAnyNumberOfScopesThatAreLeftOpen) {
  for (uint32_t i = 0; i < 10 * kMaxOpenScopes; ++i) {
    buffer_.Begin(L(5 + i % 100), 10);  // left by longjmp
    buffer_.Begin(L(200), 20);
    EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kBegin, L(200), 20));
    buffer_.End(L(200), 30);
    EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kEnd, L(200), 30));
  }
  EXPECT_LE(buffer_.open_depth(), kMaxOpenScopes);
  EXPECT_GT(Count(LedgerCounter::scope_depth_exceeded), 0u);
}

TEST_F(ThreadBufferTest, TheEndOfABlockClosesBlocksThatWereLeftInsideIt) {
  const auto block = [](uint32_t label) { return L(label | kBlockScope); };
  buffer_.Begin(block(5), 10);
  buffer_.Begin(block(6), 20);
  buffer_.Begin(L(8), 25);  // no block: it may outlast those that it began in
  buffer_.Begin(block(7), 30);
  buffer_.End(block(5), 40);
  EXPECT_THAT(OpenLabels(), ElementsAre(8u));
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 2u);
  std::vector<Slot> slots = Slots();
  EXPECT_THAT(std::vector<Slot>(slots.end() - 3, slots.end()),
              ElementsAre(MakeSlot(SlotKind::kEnd, L(7), 40), MakeSlot(SlotKind::kEnd, L(6), 40),
                          MakeSlot(SlotKind::kEnd, L(5), 40)));
}

TEST_F(ThreadBufferTest, TheEndOfAScopeThatWasOpenAtAForkClosesNothingAndIsNoFault) {
  buffer_.ExpectEndOf(5);
  buffer_.End(L(5), 20);
  EXPECT_THAT(Slots(), IsEmpty());
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 0u);
  buffer_.End(L(5), 30);
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 1u);
}

TEST_F(ThreadBufferTest, AnEventWithPayloadTakesTwoSlots) {
  buffer_.EmitWithPayload(SlotKind::kStep, L(0), 17, 100);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kStep, L(0), 100), Slot{17}));
}

TEST_F(ThreadBufferTest, APayloadOfZeroIsStillAPayload) {
  buffer_.EmitWithPayload(SlotKind::kCounter, L(8), 0, 100);
  buffer_.Begin(L(5), 110);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kCounter, L(8), 100), Slot{0},
                                   MakeSlot(SlotKind::kBegin, L(5), 110)));
}

TEST_F(ThreadBufferTest, APayloadThatDoesNotFitMovesItsEventToTheNextPage) {
  FillPageUntilLeft(1, 100);
  buffer_.EmitWithPayload(SlotKind::kStep, L(0), 17, 200);
  EXPECT_EQ(PagesInOrder().size(), 2u);
  EXPECT_EQ(NewestPage().first_sequence, kSlotsPerPage - 1);
  EXPECT_EQ(mapping_->slots(PagesInOrder().back())[1], 17u);
}

TEST_F(ThreadBufferTest, TheNextPageGoesOnCountingAndSaysWhichScopesAreOpen) {
  buffer_.Begin(L(5), 100);
  buffer_.Begin(L(6), 100);
  for (uint32_t i = 2; i < kSlotsPerPage; ++i) buffer_.Emit(SlotKind::kMark, L(9), 100);
  buffer_.End(L(6), kEra + 777);
  const LivePageHeader& page = NewestPage();
  EXPECT_EQ(page.first_sequence, kSlotsPerPage);
  EXPECT_EQ(page.base_ticks, kEra);
  ASSERT_EQ(page.open_depth, 2u);
  EXPECT_EQ(page.open_labels[0], 5u);
  EXPECT_EQ(page.open_labels[1], 6u);
  EXPECT_EQ(page.dropped_before, 0u);
  EXPECT_THAT(OpenLabels(), ElementsAre(5u));
}

TEST_F(ThreadBufferTest, AFullPageIsMarkedFull) {
  FillPageUntilLeft(0, 100);
  buffer_.Begin(L(5), 200);
  const std::vector<uint32_t> pages = PagesInOrder();
  EXPECT_EQ(mapping_->page(pages[0])->state, static_cast<uint32_t>(PageState::kFull));
  EXPECT_EQ(mapping_->page(pages[1])->state, static_cast<uint32_t>(PageState::kOwned));
}

TEST_F(ThreadBufferTest, ThePageIsLeftWhenItCannotExpressTheTime) {
  buffer_.Begin(L(5), kEra + 1000);
  buffer_.End(L(5), kEra + kMaxSlotTicks);
  EXPECT_EQ(PagesInOrder().size(), 1u);
  buffer_.Begin(L(5), kEra + kMaxSlotTicks + 1);
  EXPECT_EQ(PagesInOrder().size(), 2u);
  EXPECT_EQ(NewestPage().base_ticks, kEra + kMaxSlotTicks + 1);
}

TEST_F(ThreadBufferTest, AClockThatRunsBackwardsIsHeldAtThePagesBase) {
  buffer_.Begin(L(5), kEra);
  buffer_.End(L(5), kEra - 1);
  EXPECT_EQ(Slots().back(), MakeSlot(SlotKind::kEnd, L(5), 0));
  EXPECT_EQ(Count(LedgerCounter::clock_backwards), 1u);
  EXPECT_EQ(PagesInOrder().size(), 1u);
}

TEST_F(ThreadBufferTest, WithoutAFreePageEventsAreDroppedAndCounted) {
  ExhaustPool();
  EXPECT_EQ(Slots().size(), size_t{kSlotsPerPage} * mapping_->page_count());
  buffer_.Begin(L(5), 60);
  EXPECT_EQ(Count(LedgerCounter::scope_events_dropped), 2u);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 1u) << "it waits once, not per event";
}

TEST_F(ThreadBufferTest, TheStackIsFollowedWhileEventsAreDropped) {
  buffer_.Begin(L(5), 10);
  ExhaustPool();
  buffer_.Begin(L(6), 60);
  buffer_.Begin(L(7), 70);
  buffer_.End(L(5), 80);
  EXPECT_THAT(OpenLabels(), ElementsAre(6u, 7u));
}

TEST_F(ThreadBufferTest, AfterADropTheFirstPageSaysHowMuchIsMissingAndWhatIsOpen) {
  ExhaustPool();
  buffer_.Begin(L(5), 60);
  buffer_.Begin(L(6), 70);
  FlushAllFullPages();
  buffer_.Begin(L(7), 80);
  const LivePageHeader& page = NewestPage();
  EXPECT_EQ(page.dropped_before, 3u);
  ASSERT_EQ(page.open_depth, 2u);
  EXPECT_EQ(page.open_labels[1], 6u);
  EXPECT_EQ(page.first_sequence, size_t{kSlotsPerPage} * mapping_->page_count())
      << "dropped events take no sequence numbers";
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kBegin, L(7), 80)));
}

TEST_F(ThreadBufferTest, DetachHandsTheUnfinishedPageOver) {
  buffer_.Begin(L(5), 10);
  buffer_.Detach();
  std::vector<PagePool::FullPage> full;
  pool_->TakeFull(SIZE_MAX, &full, nullptr);
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].used, 1u);
}

TEST_F(ThreadBufferTest, AfterDetachCallsAreHarmless) {
  buffer_.Begin(L(5), 10);
  buffer_.Detach();
  buffer_.Begin(L(6), 20);
  buffer_.End(L(5), 30);
  buffer_.Emit(SlotKind::kMark, L(5), 40);
  buffer_.EmitWithPayload(SlotKind::kStep, L(5), 1, 50);
  EXPECT_EQ(Slots().size(), 1u);
}

TEST_F(ThreadBufferTest, OnceTheRecordingIsFinishedNoPageIsTakenAndNothingIsCounted) {
  FillPageUntilLeft(0, 100);
  context_.finished = true;
  buffer_.Begin(L(5), 200);
  buffer_.End(L(5), 210);
  EXPECT_EQ(PagesInOrder().size(), 1u);
  EXPECT_EQ(Count(LedgerCounter::scope_events_dropped), 0u);
}

TEST_F(ThreadBufferTest, MemoryThatWasWipedIsNeverWrittenThrough) {
  buffer_.Begin(L(5), 10);
  buffer_ = ThreadBuffer{};  // what a fork child sees
  buffer_.Begin(L(6), 20);
  buffer_.End(L(6), 30);
  EXPECT_EQ(Slots().size(), 1u);
}

}  // namespace
}  // namespace gpubound
