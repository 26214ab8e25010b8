// SPDX-License-Identifier: Apache-2.0
//
// Chunks of thread events: what a thread wrote comes back, slot by slot.
#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

class ThreadChunk : public testing::TestWithParam<ChunkCompression> {
 protected:
  SlotWriter write;

  // Encodes what was written, and expects it to come back.
  void RoundTrip() {
    Encode();
    Decode();
    EXPECT_EQ(RowsOf(events), EventsOf(write.slots(), base_ticks, clock));
    EXPECT_EQ(chunk.sequence_count, write.slots().size());
    EXPECT_EQ(chunk.event_count, events.size());
  }
  void Encode() {
    chunk = encoder.EncodeThread({.thread = 3, .first_sequence = 77, .dropped_before = 5},
                                 base_ticks, open_labels, write.slots(), clock);
    ASSERT_TRUE(chunk.ok);
    EXPECT_EQ(chunk.family, EventFamily::kThread);
  }
  void Decode() {
    const ChunkStatus status = decoder.Decode(chunk, &events);
    ASSERT_TRUE(status.ok()) << status.what << " at " << status.offset;
    EXPECT_EQ(events.thread, 3u);
    EXPECT_EQ(events.first_sequence, 77u);
    EXPECT_EQ(events.dropped_before, 5u);
    EXPECT_EQ(status.events_lost, 0u);
  }
  std::vector<uint32_t> OpenAfter() const {
    return {chunk.open_labels_after.begin(), chunk.open_labels_after.end()};
  }

  uint64_t base_ticks = 1'000'000;
  std::vector<uint32_t> open_labels;
  ClockConversion clock = TscConversion();
  ChunkEncoder encoder{GetParam()};
  ChunkDecoder decoder;
  EncodedChunk chunk;
  ThreadEvents events;
};

INSTANTIATE_TEST_SUITE_P(PlainAndCompressed, ThreadChunk,
                         testing::Values(ChunkCompression::kNone, ChunkCompression::kZstd));

TEST_P(ThreadChunk, WithoutEventsIsAChunk) {
  RoundTrip();
  EXPECT_EQ(chunk.event_count, 0u);
  EXPECT_EQ(chunk.min_ns, 0);
  EXPECT_TRUE(events.clock.empty());
}

TEST_P(ThreadChunk, HoldsOneEvent) {
  write.Put(SlotKind::kMark, 9, 1234);
  RoundTrip();
  EXPECT_EQ(chunk.min_ns, clock.ToMonotonic(base_ticks + 1234));
  EXPECT_EQ(chunk.max_ns, chunk.min_ns);
}

TEST_P(ThreadChunk, HoldsOneScope) {
  write.Begin(7, 100).End(7, 5000);
  RoundTrip();
  EXPECT_EQ(chunk.max_ns, clock.ToMonotonic(base_ticks + 5000));
  EXPECT_TRUE(OpenAfter().empty());
  EXPECT_TRUE(events.scopes_only);
}

TEST_P(ThreadChunk, HoldsEveryKindOfSlot) {
  for (uint32_t kind = 1; kind <= static_cast<uint32_t>(kLastSlotKind); ++kind) {
    write.Put(static_cast<SlotKind>(kind), 100 + kind, 10 * kind, ~uint64_t{kind});
  }
  RoundTrip();
  EXPECT_FALSE(events.scopes_only);
}

TEST_P(ThreadChunk, KeepsAnEndWithoutABegin) {
  write.Begin(1, 10).End(2, 20).End(1, 30);
  RoundTrip();
  EXPECT_TRUE(OpenAfter().empty());
}

TEST_P(ThreadChunk, KeepsEndsOutOfOrder) {
  write.Begin(1, 10).Begin(2, 20).Begin(3, 30).End(2, 40).End(1, 50).End(3, 60);
  RoundTrip();
}

TEST_P(ThreadChunk, EndsTheInnermostOfScopesWithTheSameLabel) {
  write.Begin(4, 1).Begin(5, 2).Begin(4, 3).End(5, 4).End(4, 5);
  RoundTrip();
  EXPECT_EQ(OpenAfter(), std::vector<uint32_t>{4});
}

TEST_P(ThreadChunk, BeginsInsideTheScopesThatWereOpen) {
  open_labels = {10, 20, 30};
  write.End(30, 5).End(20, 6).Begin(40, 7);
  RoundTrip();
  EXPECT_EQ(events.open_labels, (std::vector{LabelId{10}, LabelId{20}, LabelId{30}}));
  EXPECT_EQ(OpenAfter(), (std::vector<uint32_t>{10, 40}));
}

TEST_P(ThreadChunk, ContinuesAPageThatIsDrainedInParts) {
  Dice dice(11);
  const std::vector<Slot> all = RandomSlots(&dice, 3000);
  std::vector<EventRow> seen;
  size_t taken = 0;
  int64_t not_before_ns = INT64_MIN;
  while (taken != all.size()) {
    const size_t part = std::min<size_t>(1 + dice.Below(400), all.size() - taken);
    chunk = encoder.EncodeThread(
        {.thread = 3, .first_sequence = 77, .dropped_before = 5, .not_before_ns = not_before_ns},
        base_ticks, open_labels, std::span(all).subspan(taken, part), clock);
    Decode();
    for (const EventRow& event : RowsOf(events)) seen.push_back(event);
    taken += chunk.sequence_count;
    open_labels = OpenAfter();
    if (chunk.event_count != 0) not_before_ns = chunk.max_ns;
  }
  EXPECT_EQ(seen, EventsOf(all, base_ticks, clock));
}

TEST_P(ThreadChunk, FollowsAFullStackAndNotBeyond) {
  for (uint32_t i = 0; i < kMaxOpenScopes + 3; ++i) write.Begin(1000 + i, i);
  for (uint32_t i = kMaxOpenScopes + 3; i-- != 0;) write.End(1000 + i, 200);
  RoundTrip();
}

TEST_P(ThreadChunk, CutsOpenLabelsThatAPageCannotName) {
  open_labels.assign(kMaxOpenScopes + 1, 6);
  write.End(6, 1);
  Encode();
  Decode();
  EXPECT_EQ(events.open_labels.size(), kMaxOpenScopes);
  EXPECT_EQ(OpenAfter().size(), kMaxOpenScopes - 1);
}

TEST_P(ThreadChunk, StopsAtTheFirstSlotThatIsNotWritten) {
  write.Begin(1, 1).End(1, 2).Raw64(0).Begin(2, 3);
  Encode();
  Decode();
  EXPECT_EQ(chunk.sequence_count, 2u);
  EXPECT_EQ(events.size(), 2u);
}

TEST_P(ThreadChunk, TakesAPayloadOfZeroForWrittenAsItsHeadIs) {
  write.Put(SlotKind::kStep, 1, 1, 0).Put(SlotKind::kCounter, 2, 2, 0).Begin(1, 3);
  RoundTrip();
}

TEST_P(ThreadChunk, LeavesAHeadWhosePayloadIsNotThere) {
  write.Begin(1, 1).Raw64(MakeSlot(SlotKind::kCounter, LabelId{3}, 2));
  Encode();
  Decode();
  EXPECT_EQ(chunk.sequence_count, 1u);
}

TEST_P(ThreadChunk, SkipsAndCountsSlotsOfNoKnownKind) {
  write.Begin(1, 1).Raw64(0xe | 5 << 4).Raw64(0x10).End(1, 2);
  Encode();
  Decode();
  EXPECT_EQ(chunk.invalid_slots, 2u);
  EXPECT_EQ(chunk.sequence_count, 4u);
  EXPECT_EQ(chunk.event_count, 2u);
}

TEST_P(ThreadChunk, MovesTimeThatRunsBackwardsToThePreviousEvent) {
  write.Begin(1, 5000).Begin(2, 100).End(2, 200).End(1, 6000);
  RoundTrip();
  EXPECT_EQ(chunk.clock_backwards, 2u);
  EXPECT_EQ(events.events[1].time_ns, events.events[0].time_ns);
}

TEST_P(ThreadChunk, DoesNotBeginBeforeThePreviousChunkEnded) {
  write.Begin(1, 0).End(1, 10'000);
  const int64_t not_before_ns = clock.ToMonotonic(base_ticks + 5000);
  chunk = encoder.EncodeThread(
      {.thread = 3, .first_sequence = 77, .dropped_before = 5, .not_before_ns = not_before_ns},
      base_ticks, {}, write.slots(), clock);
  Decode();
  EXPECT_EQ(chunk.clock_backwards, 1u);
  EXPECT_EQ(events.events[0].time_ns, not_before_ns);
  EXPECT_EQ(events.events[1].time_ns, clock.ToMonotonic(base_ticks + 10'000));
  EXPECT_EQ(chunk.min_ns, not_before_ns);
}

TEST_P(ThreadChunk, HoldsTheLargestValues) {
  write.Begin(0, 0).Begin(kMaxLabels - 1, kMaxSlotTicks);
  write.Put(SlotKind::kCounter, kMaxLabels - 1, kMaxSlotTicks, UINT64_MAX);
  RoundTrip();
}

TEST_P(ThreadChunk, SealsTheKnotsThatItsTimesRestOn) {
  base_ticks = 2'000'000;
  write.Begin(1, 0).End(1, 2'000'000);
  RoundTrip();
  const ClockConversion sealed(events.clock);
  EXPECT_EQ(events.clock.size(), 3u);
  EXPECT_EQ(sealed.ToMonotonic(base_ticks), events.events[0].time_ns);
  EXPECT_EQ(sealed.ToMonotonic(base_ticks + 2'000'000), events.events[1].time_ns);
}

TEST_P(ThreadChunk, SealsNoKnotsForTheIdentity) {
  clock = ClockConversion();
  write.Begin(1, 3);
  RoundTrip();
  EXPECT_TRUE(events.clock.empty());
  EXPECT_EQ(events.events[0].time_ns, 1'000'003);
}

TEST_P(ThreadChunk, SaysALabelThatAllBeginsShareOnce) {
  for (uint64_t i = 0; i < 1000; ++i) write.Begin(300, 20 * i).End(300, 20 * i + 10);
  RoundTrip();
  EXPECT_LT(chunk.raw_bytes, 2100u);  // a byte for each time, and nothing else
}

TEST_P(ThreadChunk, WritesALabelOutWhenItStopsBeingTheOnlyOne) {
  for (uint64_t i = 0; i < 1000; ++i) write.Begin(300, 20 * i).End(300, 20 * i + 10);
  write.Begin(301, 30'000);
  RoundTrip();
}

TEST_P(ThreadChunk, BringsBackRandomLives) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    write = SlotWriter();
    for (Slot slot : RandomSlots(&dice, dice.AnyMagnitude(12))) write.Raw64(slot);
    RoundTrip();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(ThreadChunk, CompressesAPageOrStoresItAsItIs) {
  for (uint64_t i = 0; i < 2000; ++i) write.Begin(1 + i % 7, 999 * i).End(1 + i % 7, 999 * i + 500);
  RoundTrip();
  EXPECT_EQ(chunk.compression, GetParam());
  if (GetParam() == ChunkCompression::kNone) {
    EXPECT_EQ(chunk.body.size(), chunk.raw_bytes);
  } else {
    EXPECT_LT(chunk.body.size(), chunk.raw_bytes);
  }
}

}  // namespace
}  // namespace gpubound
