// SPDX-License-Identifier: Apache-2.0
//
// From thread buffers to decoded events of the database, on virtual time: nothing lost, nothing
// twice, every time exact.
#include "libprofiler/drain.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <bit>
#include <thread>

#include "libprofiler/record_sink.h"
#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class DrainTest : public CollectorFixture {
 protected:
  void SetUp() override { StartCollector(); }

  std::vector<StoredEvent> Stored(uint32_t ordinal = 1) {
    return TraceFile(DatabasePath()).ThreadEventsOf(ordinal);
  }
  static StoredEvent At(int64_t ns, SlotKind kind, const std::string& label, uint64_t payload = 0) {
    return {kind, label, ns, payload};
  }
  // The chunks of thread 1 must count on without gap or overlap.
  uint64_t SequencesStored() {
    uint64_t next = 0;
    for (const auto& chunk : TraceFile(DatabasePath()).Chunks(EventFamily::kThread)) {
      if (chunk.row.thread != 1) continue;
      EXPECT_EQ(chunk.row.first_sequence, next);
      next += chunk.row.sequence_count;
    }
    return next;
  }
};

TEST_F(DrainTest, EventsArriveWithTheirExactTimes) {
  const int64_t begin = Now();
  Begin("update");
  clock_.Advance(1'000);
  Scope("inference", 250);
  clock_.Advance(7);
  End("update");
  Finish();
  EXPECT_THAT(Stored(), ElementsAre(At(begin, SlotKind::kBegin, "update"),
                                    At(begin + 1'000, SlotKind::kBegin, "inference"),
                                    At(begin + 1'250, SlotKind::kEnd, "inference"),
                                    At(begin + 1'257, SlotKind::kEnd, "update")));
}

TEST_F(DrainTest, PayloadsArrive) {
  const int64_t now = Now();
  thread_->EmitWithPayload(SlotKind::kStep, LabelId{0}, 41, clock_.Ticks());
  thread_->EmitWithPayload(SlotKind::kCounter, Operation("steps"), std::bit_cast<uint64_t>(2.5),
                           clock_.Ticks());
  Finish();
  EXPECT_THAT(Stored(),
              ElementsAre(At(now, SlotKind::kStep, "", 41),
                          At(now, SlotKind::kCounter, "steps", std::bit_cast<uint64_t>(2.5))));
}

TEST_F(DrainTest, APageThatIsStillBeingWrittenIsDrainedInParts) {
  const int64_t begin = Now();
  Begin("update");
  Drain();
  EXPECT_THAT(Stored(), SizeIs(1));
  clock_.Advance(500);
  Scope("inference", 100);
  Drain();
  EXPECT_THAT(Stored(), SizeIs(3));
  clock_.Advance(1);
  End("update");
  Finish();
  EXPECT_EQ(Stored().back(), At(begin + 601, SlotKind::kEnd, "update"))
      << "the part before said which scope was open";
  EXPECT_EQ(SequencesStored(), 4u);
}

TEST_F(DrainTest, DrainingAgainWithoutNewEventsWritesNothing) {
  Scope("update", 10);
  Drain();
  const int64_t chunks = TraceFile(DatabasePath()).Number("SELECT count(*) FROM chunk");
  Drain();
  Drain();
  EXPECT_EQ(TraceFile(DatabasePath()).Number("SELECT count(*) FROM chunk"), chunks);
}

TEST_F(DrainTest, ManyPagesArriveWhole) {
  constexpr int kScopes = 3 * static_cast<int>(kSlotsPerPage);
  for (int i = 0; i < kScopes; ++i) {
    Scope("update", 3);
    if (i % 5000 == 0) Drain();
  }
  Finish();
  EXPECT_EQ(SequencesStored(), 2u * kScopes);
  const std::vector<StoredEvent> events = Stored();
  ASSERT_THAT(events, SizeIs(2 * kScopes));
  for (size_t i = 2; i < events.size(); i += 2) {
    ASSERT_EQ(events[i].time_ns - events[i - 2].time_ns, 3);
  }
}

TEST_F(DrainTest, ThreadsAreKeptApart) {
  ThreadBuffer* other = collector_->RegisterThread(101, "worker");
  Begin("update");
  other->Begin(Operation("simulation"), clock_.Ticks());
  Finish();
  EXPECT_THAT(Stored(1), ElementsAre(At(Now(), SlotKind::kBegin, "update")));
  EXPECT_THAT(Stored(2), ElementsAre(At(Now(), SlotKind::kBegin, "simulation")));
  EXPECT_THAT(TraceFile(DatabasePath()).Column("SELECT name FROM thread ORDER BY id"),
              ElementsAre("main", "worker"));
}

TEST_F(DrainTest, TwoThreadsAndADrainThatRunsBesideThemLoseNothing) {
  constexpr uint64_t kScopes = 100'000;
  ThreadBuffer* other = collector_->RegisterThread(101, "worker");
  const LabelId label = Operation("update");
  const uint64_t ticks = clock_.Ticks();
  std::atomic<int> running{2};
  const auto record = [&](ThreadBuffer* buffer) {
    for (uint64_t i = 0; i < kScopes; ++i) {
      buffer->Begin(label, ticks + i);
      buffer->End(label, ticks + i);
    }
    running.fetch_sub(1);
  };
  std::thread first(record, thread_);
  std::thread second(record, other);
  while (running.load() != 0) Drain();
  first.join();
  second.join();
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.LedgerValue(LedgerCounter::scope_events_dropped) +
                trace.Number("SELECT sum(event_count) FROM chunk"),
            static_cast<int64_t>(4 * kScopes));
  EXPECT_EQ(trace.LedgerValue(LedgerCounter::unbalanced_scopes), 0);
}

TEST_F(DrainTest, AThreadThatEndedKeepsItsNameWhoeverHasItsNumberNow) {
  ThreadBuffer* other = collector_->RegisterThread(static_cast<uint32_t>(gettid()), "worker");
  collector_->UnregisterThread(other, "last name");
  Finish();
  EXPECT_EQ(TraceFile(DatabasePath()).Text("SELECT name FROM thread WHERE id=2"), "last name");
}

TEST_F(DrainTest, AThreadThatEndsLeavesItsEventsAndItsLastName) {
  Begin("update");
  collector_->UnregisterThread(thread_, "renamed");
  Finish();
  EXPECT_THAT(Stored(), SizeIs(2));
  EXPECT_EQ(TraceFile(DatabasePath()).Text("SELECT name FROM thread WHERE id=1"), "renamed");
}

TEST_F(DrainTest, AThreadThatEndsOpensAScopeThatSaysSoAndIsNoneThatItLeftOpen) {
  Begin("update");
  const int64_t end_ns = clock_.MonotonicNs();
  collector_->UnregisterThread(thread_, "renamed");
  Finish();
  EXPECT_EQ(Stored().back().label, "thread ended");
  EXPECT_EQ(Stored().back().kind, SlotKind::kBegin);
  EXPECT_EQ(Stored().back().time_ns, end_ns);
  EXPECT_EQ(TraceFile(DatabasePath()).LedgerValue(LedgerCounter::scopes_open_at_end), 1);
}

TEST_F(DrainTest, ScopesOfOneNameThatAreOpenAtTheEndWereLeftAndAreUnbalanced) {
  for (int turn = 0; turn < 5; ++turn) Begin("parse");
  Begin("inference");
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.LedgerValue(LedgerCounter::scopes_open_at_end), 6);
  EXPECT_EQ(trace.LedgerValue(LedgerCounter::unbalanced_scopes), 4);
}

TEST_F(DrainTest, ScopesThatAreOpenAtTheEndAreCounted) {
  Begin("update");
  Begin("inference");
  Finish();
  EXPECT_EQ(TraceFile(DatabasePath()).LedgerValue(LedgerCounter::scopes_open_at_end), 2);
}

TEST_F(DrainTest, WhatWasDroppedIsSaidByTheChunkAfterIt) {
  const LabelId label = Operation("update");
  while (collector_->ledger()->Get(LedgerCounter::scope_events_dropped) < 5) {
    thread_->Emit(SlotKind::kMark, label, clock_.Ticks());
  }
  Drain();
  Begin("after");
  Finish();
  const TraceFile trace(DatabasePath());
  ChunkDecoder decoder;
  ThreadEvents events;
  const auto chunks = trace.Chunks(EventFamily::kThread);
  ASSERT_TRUE(decoder.Decode(chunks.back().row, &events).ok());
  EXPECT_EQ(events.dropped_before, 5u);
  EXPECT_EQ(trace.LedgerValue(LedgerCounter::scope_events_dropped), 5);
}

TEST_F(DrainTest, LooksAtStacksArriveInNanosecondsOfTheSystemsClock) {
  RecordSink sink(collector_->context(), ThreadId{0});
  const auto now = static_cast<uint64_t>(Now());
  sink.Append(StackRecord{now, now + 30, 0, 100, FrameId{7}, 3, 1, 0});
  sink.Publish();
  Drain();
  const auto chunks = TraceFile(DatabasePath()).Chunks(EventFamily::kStack);
  ASSERT_THAT(chunks, SizeIs(1));
  StackEvents events;
  ASSERT_TRUE(ChunkDecoder().Decode(chunks[0].row, &events).ok());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.start_ns[0], Now());
  EXPECT_EQ(events.end_ns[0], Now() + 30);
  EXPECT_EQ(events.tid[0], 100u);
  EXPECT_EQ(events.frame[0], FrameId{7});
  EXPECT_EQ(events.looks[0], 3u);
}

TEST_F(DrainTest, AStepOfTheWallClockIsCounted) {
  Scope("update", 2'000'000'000);
  Drain();
  clock_.StepWallClock(3'600'000'000'000);
  Scope("update", 2'000'000'000);
  Finish();
  EXPECT_EQ(TraceFile(DatabasePath()).LedgerValue(LedgerCounter::clock_steps), 1);
}

TEST_F(DrainTest, ClockSamplesAreStoredAboutOnceASecondAndAtBothEnds) {
  const int64_t first = Now();
  for (int i = 0; i < 100; ++i) {
    Scope("update", 100'000'000);
    Drain();
  }
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Number("SELECT min(monotonic_ns) FROM clock"), first);
  EXPECT_EQ(trace.Number("SELECT max(monotonic_ns) FROM clock"), Now());
  EXPECT_GE(trace.Number("SELECT count(*) FROM clock"), 10);
  EXPECT_LE(trace.Number("SELECT count(*) FROM clock"), 13);
}

class DrainWithoutMemoryTest : public DrainTest {
 protected:
  // Two events are stored; there is no memory when the next ones, a page and more, are to be.
  void SetUp() override {
    StartCollector();
    Scope("update", 1'000'000'000);
    Drain();
    clock_.RunOutOfMemory();
    for (uint32_t i = 0; i < kSlotsPerPage; ++i) Scope("lost", 1'000);
    clock_.Advance(1'000'000'000);  // the clocks are to be read
    Drain();
  }
  uint64_t Count(LedgerCounter counter) { return collector_->ledger()->Get(counter); }
};

TEST_F(DrainWithoutMemoryTest, TheTraceEndsAndTheLedgerSaysSo) {
  EXPECT_EQ(Count(LedgerCounter::sink_write_errors), 1u);
  EXPECT_GE(Count(LedgerCounter::scope_events_dropped), kSlotsPerPage);
  EXPECT_THAT(Stored(), SizeIs(2));
}

TEST_F(DrainWithoutMemoryTest, PagesGoRoundAndWhatTheyHeldIsCounted) {
  clock_.FindMemoryAgain();
  const uint64_t before = Count(LedgerCounter::scope_events_dropped);
  for (int round = 0; round < 100; ++round) {
    for (uint32_t i = 0; i < kSlotsPerPage / 2; ++i) Scope("lost too", 1'000);
    Drain();
  }
  EXPECT_GE(Count(LedgerCounter::scope_events_dropped) - before, 99u * kSlotsPerPage);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 0u);
  EXPECT_EQ(Count(LedgerCounter::sink_write_errors), 1u);
}

TEST_F(DrainWithoutMemoryTest, TheEndLeavesTheLiveMappingWhichHasTheLedger) {
  Finish("exit");
  EXPECT_EQ(TraceFile(DatabasePath()).Meta("end_how"), "");
  EXPECT_THAT(FilesEndingIn(directory_.path(), ".live"), SizeIs(1));
}

TEST_F(DrainTest, EventsAfterTheEndAreHarmless) {
  Scope("update", 5);
  Finish("exit");
  EXPECT_EQ(TraceFile(DatabasePath()).Meta("end_how"), "exit");
  thread_->Begin(Operation("late"), clock_.Ticks());
  thread_->End(Operation("late"), clock_.Ticks());
  EXPECT_THAT(Stored(), SizeIs(2));
}

}  // namespace
}  // namespace gpubound
