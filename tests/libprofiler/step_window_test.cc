// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that is recorded, between processes and in a trace on virtual time.
#include "libprofiler/step_window.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(StepRangeTest, HasABeginAndAnEndEitherOfWhichMayBeOpen) {
  const auto parsed = [](const char* text) {
    const StepRange range = ParseStepRange(text).value_or(StepRange{7, 7});
    return std::pair(range.begin, range.end);
  };
  const std::pair<uint64_t, uint64_t> none{7, 7};
  EXPECT_EQ(parsed("100:110"), (std::pair<uint64_t, uint64_t>{100, 110}));
  EXPECT_EQ(parsed(":5"), (std::pair<uint64_t, uint64_t>{0, 5}));
  EXPECT_EQ(parsed("5:"), (std::pair<uint64_t, uint64_t>{5, UINT64_MAX}));
  for (const char* text :
       {"", "5", "5:5", "6:5", "-1:5", "1:x", "1:2:3", " 1:2", "1: 2", "1:99999999999999999999"}) {
    EXPECT_EQ(parsed(text), none) << text;
  }
}

class StepWindowTest : public testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/host.steps"; }
  TempDirectory directory_;
};

TEST_F(StepWindowTest, BeginsBehindTheIterationBeforeTheFirst) {
  StepWindow window({10, 12}, path());
  EXPECT_TRUE(window.pending());
  EXPECT_FALSE(window.OnStep(8, 800, 0));
  EXPECT_TRUE(window.pending());
  EXPECT_TRUE(window.OnStep(9, 900, 0));
  EXPECT_FALSE(window.pending());
  EXPECT_EQ(window.begin_ns(), 900);
  EXPECT_FALSE(window.OnStep(10, 1000, 0));
  EXPECT_EQ(window.begin_ns(), 900);
  EXPECT_TRUE(window.OnStep(11, 1100, 0)) << "number 12 begins";
  EXPECT_EQ(window.end_ns(), 1100);
  EXPECT_FALSE(window.OnStep(12, 1200, 0)) << "it is over once";
  EXPECT_EQ(window.end_ns(), 1100);
}

TEST_F(StepWindowTest, OneThatBeginsWithTheRunIsNeverPending) {
  StepWindow window({0, 1}, path());
  EXPECT_FALSE(window.pending());
  EXPECT_TRUE(window.OnStep(0, 100, 0));
  EXPECT_TRUE(window.over());
}

TEST_F(StepWindowTest, ProgramsMayLeaveNumbersOut) {
  StepWindow window({10, 20}, path());
  EXPECT_TRUE(window.OnStep(14, 100, 0));
  EXPECT_EQ(window.begin_ns(), 100);
  EXPECT_TRUE(window.OnStep(25, 200, 0));
  EXPECT_EQ(window.end_ns(), 200);
}

TEST_F(StepWindowTest, NumbersBelowZeroComeBeforeAllOthers) {
  StepWindow window({1, 2}, path());
  for (int64_t number = -3; number < 0; ++number) {
    EXPECT_FALSE(window.OnStep(static_cast<uint64_t>(number), 100, 0));
  }
  EXPECT_TRUE(window.pending());
  EXPECT_TRUE(window.OnStep(0, 200, 0));
  EXPECT_EQ(window.begin_ns(), 200);
}

TEST_F(StepWindowTest, KnowsThePhaseThatHeldWhenItBegan) {
  StepWindow window({2, 3}, path());
  window.NotePhase(LabelId{7});
  window.NotePhase(LabelId{8});
  EXPECT_EQ(window.TakePhase(), LabelId{}) << "not yet";
  window.OnStep(1, 100, 0);
  window.NotePhase(LabelId{9});  // is recorded
  EXPECT_EQ(window.TakePhase(), LabelId{8});
  EXPECT_EQ(window.TakePhase(), LabelId{}) << "once";
}

TEST_F(StepWindowTest, IsThatOfAllProcessesOfTheRun) {
  const StepWindow here({10, 20}, path());
  const pid_t child = fork();
  if (child == 0) {
    StepWindow there({10, 20}, path());
    there.OnStep(9, 900, 0);
    there.OnStep(19, 1900, 0);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(here.begin_ns(), 900);
  EXPECT_EQ(here.end_ns(), 1900);
  StepWindow late({10, 20}, path());
  EXPECT_TRUE(late.over());
  EXPECT_FALSE(late.OnStep(19, 5000, 0));
}

TEST_F(StepWindowTest, WithoutAFileAProcessGoesByItsOwn) {
  StepWindow window({1, 2}, directory_.path() + "/no/such/folder");
  window.OnStep(0, 100, 0);
  EXPECT_EQ(window.begin_ns(), 100);
}

class StepRecordingTest : public CollectorFixture {
 protected:
  void Iterate(uint64_t number, int64_t ns) {
    Scope("update", ns);
    const uint64_t ticks = clock_.Ticks();
    thread_->EmitWithPayload(SlotKind::kStep, LabelId{0}, number, ticks);
    collector_->OnStep(thread_, number, ticks);
    Drain();
  }
  size_t EventsStored() { return TraceFile(DatabasePath()).ThreadEventsOf(1).size(); }
};

TEST_F(StepRecordingTest, WhatLiesBeforeIsLetGoButForSomeSeconds) {
  settings_.steps = {100, 110};
  StartCollector();
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(EventsStored(), 0u);
    Iterate(i, 100 * kMs);
  }
  Drain();
  Iterate(100, 100 * kMs);
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Meta("steps"), "100:110");
  EXPECT_EQ(trace.Meta("steps_begin_ns"), std::to_string(Now() - 100 * kMs + 1));
  // Three events in each iteration, of three seconds and one iteration.
  EXPECT_NEAR(static_cast<double>(EventsStored()), 3 * 32, 6);
  for (uint64_t i = 101; i < 110; ++i) Iterate(i, 100 * kMs);
  const int64_t over_ns = Now();
  Iterate(110, 100 * kMs);
  Finish("steps");
  EXPECT_EQ(TraceFile(DatabasePath()).Meta("steps_end_ns"), std::to_string(over_ns + 1));
}

// Ticks are converted with an error: an iteration may seem to end later than the clock said.
TEST_F(StepRecordingTest, ItsSidesLieBehindTheIterationsAsTheyAreStamped) {
  settings_.steps = {2, 3};
  StartCollector();
  constexpr int64_t kErrorNs = 2'000;
  for (uint64_t number = 0; number < 4; ++number) {
    Scope("update", kMs);
    const uint64_t ticks = clock_.TicksAt(Now() + kErrorNs);
    thread_->EmitWithPayload(SlotKind::kStep, LabelId{0}, number, ticks);
    collector_->OnStep(thread_, number, ticks);
    clock_.Advance(2 * kErrorNs);
  }
  Finish("steps");
  const TraceFile trace(DatabasePath());
  std::vector<int64_t> ended_ns;
  for (const StoredEvent& event : trace.ThreadEventsOf(1)) {
    if (event.kind == SlotKind::kStep) ended_ns.push_back(event.time_ns);
  }
  ASSERT_EQ(ended_ns.size(), 4u);
  EXPECT_EQ(trace.Meta("steps_begin_ns"), std::to_string(ended_ns[1] + 1));
  EXPECT_EQ(trace.Meta("steps_end_ns"), std::to_string(ended_ns[2] + 1));
}

TEST_F(StepRecordingTest, WithoutTheFirstIterationNothingIsKept) {
  settings_.steps = {100, 110};
  StartCollector();
  for (uint64_t i = 0; i < 10; ++i) Iterate(i, kMs);
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(EventsStored(), 0u);
  EXPECT_EQ(trace.Meta("steps"), "100:110");
  EXPECT_EQ(trace.Meta("steps_begin_ns"), "");
}

TEST_F(StepRecordingTest, AProcessThatStartsAfterwardsIsNotRecorded) {
  settings_.steps = {0, 1};
  StartCollector();
  Iterate(0, kMs);
  Finish("steps");
  CollectorOptions options;
  options.settings = settings_;
  options.settings.run_directory = directory_.path();
  options.start = {.realtime_ns = 1'700'000'000'000'000'001, .monotonic_ns = Now(), .pid = 4322};
  options.clock = &clock_;
  options.start_flusher = false;
  EXPECT_EQ(Collector::Create(std::move(options)), nullptr);
}

}  // namespace
}  // namespace gpubound
