// SPDX-License-Identifier: Apache-2.0
//
// A training loop on virtual time under a whole collector: what of it is in the trace.
#include "libprofiler/iteration_suspender.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint32_t kStretch = SuspensionPlan::kFirstStretch;
constexpr int64_t kIterationNs = 1'000'000;
constexpr int kScopes = 3;  // in each iteration

class IterationSuspenderTest : public CollectorFixture {
 protected:
  IterationSuspender* suspender() { return collector_->suspender(); }

  // As the annotation API does it.
  void Scope(const std::string& name, ThreadBuffer* thread) {
    const LabelId label = Operation(name);
    if (suspender()->active()) {
      thread->BeginUnrecorded(label, clock_.Ticks());
      thread->EndUnrecorded(label, clock_.Ticks());
    } else {
      thread->Begin(label, clock_.Ticks());
      thread->End(label, clock_.Ticks());
    }
  }
  void Step(ThreadBuffer* thread) {
    const uint64_t ticks = clock_.Ticks();
    thread->EmitWithPayload(SlotKind::kStep, LabelId{}, ++steps_, ticks);
    suspender()->OnStep(thread, ticks, clock_.MonotonicNs());
  }
  void Iterate() {
    for (int i = 0; i < kScopes; ++i) Scope("inference", thread_);
    clock_.Advance(kIterationNs);
    Step(thread_);
  }
  void IterateUntilSuspended() {
    while (!suspender()->active()) Iterate();
  }
  std::vector<StoredEvent> Marks() {
    std::vector<StoredEvent> marks;
    for (const StoredEvent& event : TraceFile(DatabasePath()).ThreadEventsOf(1)) {
      if (event.kind == SlotKind::kSuspension) marks.push_back(event);
    }
    return marks;
  }
  std::string Verdict() { return TraceFile(DatabasePath()).Meta("in_run_calibration"); }

  uint64_t steps_ = 0;
};

TEST_F(IterationSuspenderTest, AnIterationRunsUnrecordedBetweenTwoMarks) {
  StartCollector();
  IterateUntilSuspended();
  const int64_t begin_ns = Now();
  Iterate();
  Finish();
  const std::vector<StoredEvent> marks = Marks();
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].payload, 0u);
  EXPECT_EQ(marks[1].payload, 1u + kScopes);
  EXPECT_EQ(marks[0].time_ns, begin_ns);
  EXPECT_EQ(marks[1].time_ns, begin_ns + kIterationNs);
}

TEST_F(IterationSuspenderTest, NoScopeOfASuspendedIterationIsInTheTrace) {
  StartCollector();
  IterateUntilSuspended();
  const uint64_t recorded = steps_;
  Iterate();
  Iterate();
  Finish();
  int64_t begins = 0;
  for (const StoredEvent& event : TraceFile(DatabasePath()).ThreadEventsOf(1)) {
    begins += event.kind == SlotKind::kBegin ? 1 : 0;
  }
  EXPECT_EQ(begins, static_cast<int64_t>(recorded + 1) * kScopes);
}

TEST_F(IterationSuspenderTest, TheLedgerCountsThemAndTheTraceSaysThatTheyWereMeasured) {
  StartCollector();
  for (uint32_t i = 0; i < 4 * kStretch; ++i) Iterate();
  Finish();
  EXPECT_EQ(TraceFile(DatabasePath()).LedgerValue("iterations_suspended"), 3);
  EXPECT_EQ(Verdict(), "measuring");
  EXPECT_NE(TraceFile(DatabasePath()).Meta("in_run_seed"), "");
}

TEST_F(IterationSuspenderTest, AShortRunSaysThatItWaited) {
  StartCollector();
  for (uint32_t i = 0; i + 1 < kStretch; ++i) Iterate();
  Finish();
  EXPECT_THAT(Marks(), IsEmpty());
  EXPECT_EQ(Verdict(), "waiting");
}

TEST_F(IterationSuspenderTest, ARunInWhichItIsOffIsRecordedWhole) {
  settings_.in_run_calibration = false;
  StartCollector();
  for (uint32_t i = 0; i < 4 * kStretch; ++i) Iterate();
  Finish();
  EXPECT_THAT(Marks(), IsEmpty());
  EXPECT_EQ(Verdict(), "off");
}

TEST_F(IterationSuspenderTest, StepsOfASecondThreadNeitherSuspendNorGoOn) {
  StartCollector();
  ThreadBuffer* const second = collector_->RegisterThread(101, "second");
  Iterate();
  for (uint32_t i = 0; i < 4 * kStretch; ++i) Step(second);
  EXPECT_FALSE(suspender()->active());
  IterateUntilSuspended();
  Step(second);
  EXPECT_TRUE(suspender()->active());
  collector_->UnregisterThread(second, "second");
}

TEST_F(IterationSuspenderTest, WhatLastsTooLongToBeAnIterationIsRecordedAgain) {
  StartCollector();
  ThreadBuffer* const second = collector_->RegisterThread(101, "second");
  IterateUntilSuspended();
  clock_.Advance(SuspensionPlan::kOverdueTimes * kIterationNs - 1);
  suspender()->EndIfOverdue(second, clock_.Ticks(), clock_.MonotonicNs());
  EXPECT_TRUE(suspender()->active());
  clock_.Advance(2);
  suspender()->EndIfOverdue(second, clock_.Ticks(), clock_.MonotonicNs());
  EXPECT_FALSE(suspender()->active());
  collector_->UnregisterThread(second, "second");
}

TEST_F(IterationSuspenderTest, ARunThatEndsSuspendedSaysWhenScopesWereRecordedAgain) {
  StartCollector();
  IterateUntilSuspended();
  Scope("inference", thread_);
  clock_.Advance(500);
  suspender()->End(thread_, clock_.Ticks());
  Finish();
  ASSERT_THAT(Marks(), SizeIs(2));
  EXPECT_EQ(Marks()[1].payload, 2u);
}

TEST_F(IterationSuspenderTest, AForkChildRecordsAsEver) {
  static bool suspended;
  suspended = false;
  StartCollector();
  suspender()->UseRoute(
      [](ScopeRoute route) noexcept { suspended = route == ScopeRoute::kUnrecorded; });
  IterateUntilSuspended();
  ASSERT_TRUE(suspended);
  collector_->AbandonInForkChild();
  EXPECT_FALSE(suspended);
}

}  // namespace
}  // namespace gpubound
