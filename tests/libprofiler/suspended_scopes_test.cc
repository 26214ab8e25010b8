// SPDX-License-Identifier: Apache-2.0
//
// Scopes that are followed without being recorded, and how the trace comes to know of them.
#include <gmock/gmock.h>

#include "tests/libprofiler/recording_fixture.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kIgnored = 1;  // of a thread that is behind, the clock is not looked at

Slot Begun(uint32_t label, uint64_t ticks) {
  return MakeSlot(SlotKind::kBegin, static_cast<LabelId>(label), ticks);
}
Slot Ended(uint32_t label, uint64_t ticks) {
  return MakeSlot(SlotKind::kEnd, static_cast<LabelId>(label), ticks);
}

class SuspendedScopesTest : public RecordingFixture {
 protected:
  void Unrecorded(uint32_t label) {
    buffer_.BeginUnrecorded(L(label), kIgnored);
    buffer_.EndUnrecorded(L(label), kIgnored);
  }
};

TEST_F(SuspendedScopesTest, ScopesThatBeginAndEndMeanwhileLeaveNothing) {
  buffer_.Begin(L(5), 10);
  Unrecorded(6);
  Unrecorded(7);
  buffer_.End(L(5), 50);
  EXPECT_THAT(Slots(), ElementsAre(Begun(5, 10), Ended(5, 50)));
}

TEST_F(SuspendedScopesTest, TheyAreCounted) {
  Unrecorded(6);
  buffer_.BeginUnrecorded(L(7), kIgnored);
  EXPECT_EQ(buffer_.unrecorded(), 2u);
}

TEST_F(SuspendedScopesTest, OpenScopesAreThoseOfTheProgramAllTheTime) {
  buffer_.Begin(L(5), 10);
  buffer_.BeginUnrecorded(L(6), 20);
  ASSERT_EQ(buffer_.open_depth(), 2u);
  EXPECT_EQ(buffer_.open_label(1), L(6));
}

TEST_F(SuspendedScopesTest, AScopeThatEndedMeanwhileIsClosedByTheNextEvent) {
  buffer_.Begin(L(5), 10);
  buffer_.EndUnrecorded(L(5), 20);
  buffer_.Emit(SlotKind::kMark, L(9), 60);
  EXPECT_THAT(Slots(),
              ElementsAre(Begun(5, 10), Ended(5, 60), MakeSlot(SlotKind::kMark, L(9), 60)));
}

TEST_F(SuspendedScopesTest, AScopeThatBeganMeanwhileIsOpenedByTheNextEvent) {
  buffer_.BeginUnrecorded(L(6), 20);
  buffer_.Begin(L(7), 60);
  EXPECT_THAT(Slots(), ElementsAre(Begun(6, 60), Begun(7, 60)));
}

TEST_F(SuspendedScopesTest, WhatIsOpenOnBothSidesStaysOpen) {
  buffer_.Begin(L(5), 10);
  buffer_.Begin(L(6), 11);
  buffer_.EndUnrecorded(L(6), 20);
  buffer_.BeginUnrecorded(L(7), kIgnored);
  buffer_.End(L(7), 60);
  EXPECT_THAT(Slots(),
              ElementsAre(Begun(5, 10), Begun(6, 11), Ended(6, 60), Begun(7, 60), Ended(7, 60)));
}

TEST_F(SuspendedScopesTest, AnEventWithAPayloadBringsTheTraceInStepToo) {
  buffer_.Begin(L(5), 10);
  buffer_.EndUnrecorded(L(5), 20);
  buffer_.EmitWithPayload(SlotKind::kStep, L(0), 3, 60);
  EXPECT_EQ(Slots()[1], Ended(5, 60));
}

// A page is opened for writing in stretches that end with a memory page; falling behind ends one in
// its middle.
TEST_F(SuspendedScopesTest, AnEventOfTwoSlotsDoesNotLeaveThePageWhereOneIsLeftInItsStretch) {
  constexpr uint32_t kMemoryPage = 4096;
  buffer_.Begin(L(5), 10);
  const auto begin = reinterpret_cast<uintptr_t>(mapping_->slots(PagesInOrder().back()));
  const auto stretch = static_cast<uint32_t>((kMemoryPage - begin % kMemoryPage) / sizeof(Slot));
  for (uint32_t used = 1; used + 1 < stretch; ++used) buffer_.Emit(SlotKind::kMark, L(8), 10);
  Unrecorded(6);
  buffer_.EmitWithPayload(SlotKind::kCounter, L(7), 1, 10);
  for (uint32_t i = 0; i < kSlotsPerPage; ++i) {
    buffer_.Begin(L(6), 10);
    buffer_.End(L(6), 10);
  }
  EXPECT_EQ(Slots().size(), stretch - 1 + 2 + 2 * kSlotsPerPage);
}

TEST_F(SuspendedScopesTest, AScopeInTheMiddleCanEndMeanwhile) {
  buffer_.Begin(L(5), 10);
  buffer_.Begin(L(6), 11);
  buffer_.EndUnrecorded(L(5), 20);
  buffer_.End(L(6), 60);
  EXPECT_THAT(Slots(), ElementsAre(Begun(5, 10), Begun(6, 11), Ended(6, 60), Ended(5, 60),
                                   Begun(6, 60), Ended(6, 60)));
}

TEST_F(SuspendedScopesTest, AnEndWithoutABeginIsRecordedAsSuch) {
  buffer_.EndUnrecorded(L(6), 20);
  EXPECT_THAT(Slots(), ElementsAre(MakeSlot(SlotKind::kUnbalanced, L(6), 20)));
  EXPECT_EQ(Count(LedgerCounter::unbalanced_scopes), 1u);
}

TEST_F(SuspendedScopesTest, AThreadThatEndsBehindClosesWhatItClosed) {
  buffer_.Begin(L(5), 10);
  buffer_.EndUnrecorded(L(5), 20);
  buffer_.Detach();
  EXPECT_THAT(Slots(), ElementsAre(Begun(5, 10), Ended(5, 20)));
}

TEST_F(SuspendedScopesTest, ScopesTooDeepForTheStackCloseInOrder) {
  for (uint32_t i = 0; i < kMaxOpenScopes; ++i) buffer_.Begin(L(100 + i), 10);
  buffer_.BeginUnrecorded(L(5), 20);
  buffer_.BeginUnrecorded(L(6), kIgnored);
  buffer_.EndUnrecorded(L(6), kIgnored);
  buffer_.EndUnrecorded(L(5), kIgnored);
  buffer_.End(L(100 + kMaxOpenScopes - 1), 60);
  EXPECT_EQ(buffer_.open_depth(), kMaxOpenScopes - 3) << "two outer ones made place";
  EXPECT_EQ(Slots().back(), Ended(100 + kMaxOpenScopes - 1, 60));
  EXPECT_EQ(Count(LedgerCounter::scope_depth_exceeded), 2u);
}

TEST_F(SuspendedScopesTest, OneTooDeepIsStillKnownAfterCatchingUp) {
  for (uint32_t i = 0; i < kMaxOpenScopes; ++i) buffer_.Begin(L(100 + i), 10);
  buffer_.BeginUnrecorded(L(5), 20);
  buffer_.Emit(SlotKind::kMark, L(9), 30);
  buffer_.End(L(5), 40);
  EXPECT_EQ(buffer_.open_depth(), kMaxOpenScopes - 1);
  buffer_.End(L(100 + kMaxOpenScopes - 1), 60);
  EXPECT_EQ(buffer_.open_depth(), kMaxOpenScopes - 2);
}

TEST_F(SuspendedScopesTest, APageThatFillsUpWhileCatchingUpSaysWhatWasOpenInTheTrace) {
  buffer_.Begin(L(5), 10);
  FillPageUntilLeft(2, 11);
  const uint32_t depth = buffer_.open_depth();
  for (uint32_t i = 0; i < 4; ++i) buffer_.BeginUnrecorded(L(20 + i), 20);
  buffer_.Emit(SlotKind::kMark, L(9), 60);
  ASSERT_EQ(PagesInOrder().size(), 2u);
  // One slot was left behind the scope opened first, so one of the four went into the first page.
  const LivePageHeader& page = NewestPage();
  EXPECT_EQ(page.open_depth, depth + 1);
  EXPECT_EQ(page.open_labels[depth], 20u);
  EXPECT_EQ(mapping_->slots(PagesInOrder().back())[0], Begun(21, 60));
}

TEST_F(SuspendedScopesTest, WithoutAPageWhatIsMissedIsCountedAndTheStackIsRight) {
  while (Count(LedgerCounter::scope_events_dropped) == 0) buffer_.Emit(SlotKind::kMark, L(9), 50);
  buffer_.BeginUnrecorded(L(6), 60);
  buffer_.Emit(SlotKind::kMark, L(9), 70);
  EXPECT_EQ(Count(LedgerCounter::scope_events_dropped), 3u);
  EXPECT_EQ(buffer_.open_depth(), 1u);
}

TEST_F(SuspendedScopesTest, ABufferThatIsNotAttachedStaysEmpty) {
  ThreadBuffer none = {};
  none.BeginUnrecorded(L(5), 10);
  none.EndUnrecorded(L(5), 20);
  EXPECT_EQ(none.open_depth(), 0u);
  EXPECT_THAT(Slots(), IsEmpty());
}

}  // namespace
}  // namespace gpubound
