// SPDX-License-Identifier: Apache-2.0
//
// The source with its thread: start, end, and every way in which either goes wrong; a CUPTI that
// does not answer at the end is in cupti_end_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/cupti_hooks/cupti_source_fixture.h"

namespace gpubound {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CuptiSourceTest : public CuptiSourceFixture {};

TEST_F(CuptiSourceTest, TellsWhatCostsDependOn) {
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(host_.facts["cupti_version"], "130001");
  EXPECT_TRUE(host_.facts.contains("driver_version"));
}

TEST_F(CuptiSourceTest, EverythingThatWasMadeIsRecordedByTheEnd) {
  ASSERT_TRUE(Start());
  for (uint64_t i = 0; i < 1000; ++i) Kernel(10 + i, 20 + i);
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1000u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
  EXPECT_THAT(host_.notes, IsEmpty());
  EXPECT_GE(host_.delivered_until.back(), before_start_ns_);
}

TEST_F(CuptiSourceTest, AtTheEndKindsGoOffBeforeTheForcedFlushAndCuptiIsGivenBackLast) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop();
  const auto calls = cupti_.calls();
  const auto disable = std::find(calls.begin(), calls.end(), "cuptiActivityDisable 8");
  EXPECT_THAT(std::vector<std::string>(disable, calls.end()), Contains("cuptiActivityFlushAll 1"));
  EXPECT_THAT(std::vector<std::string>(calls.begin(), disable),
              Not(Contains("cuptiActivityFlushAll 1")));
  EXPECT_EQ(calls.back(), "cuptiUnsubscribe");
}

// A program that makes few records never fills a buffer. The wait is for the worker's second turn.
TEST_F(CuptiSourceTest, WhileTheProgramRunsRecordsAreAskedForAgainAndAgain) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  while (cupti_.CallsOf("cuptiActivityFlushAll") < 2) std::this_thread::yield();
  const auto calls = cupti_.calls();
  EXPECT_THAT(calls, Not(Contains("cuptiActivityFlushAll 1")));
  EXPECT_THAT(calls, Not(Contains("cuptiActivityDisable 10")));
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1u);
}

TEST_F(CuptiSourceTest, AProgramWithoutGpuCallsIsNeverFlushed) {
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityFlushAll"), 0);
  EXPECT_THAT(host_.unknowns, IsEmpty());
}

// CUPTI registers handlers of its own with its first flush, however late that is. The waits are for
// turns of the worker.
TEST_F(CuptiSourceTest, TheRecordingEndsBeforeHandlersOfCuptisFirstFlush) {
  ASSERT_TRUE(Start());
  while (host_.deliveries < 2) std::this_thread::yield();
  EXPECT_EQ(host_.exit_handlers, 0) << "nothing was flushed yet";
  Kernel(10, 20);
  while (cupti_.CallsOf("cuptiActivityFlushAll") < 2) std::this_thread::yield();
  EXPECT_EQ(host_.exit_handlers, 1);
  Stop();
}

TEST_F(CuptiSourceTest, TheClockIsCuptis) {
  int64_t now = 0;
  source_ = std::make_unique<CuptiSource>(options_);
  EXPECT_FALSE(source_->ReadClock(&now)) << "none before the start";
  ASSERT_TRUE(source_->Start(&host_));
  EXPECT_TRUE(source_->ReadClock(&now));
  EXPECT_EQ(now, 123'456);
  Stop();
  EXPECT_TRUE(source_->ReadClock(&now)) << "for the last records";
  EXPECT_STREQ(source_->name(), "cupti");
}

// As torch.profiler does, for good: it has CUPTI tell ticks of the TSC.
TEST_F(CuptiSourceTest, TheClockRunsOnWhateverTheNextToolSetsItTo) {
  for (const bool yields : {true, false}) {
    cupti_.timestamp = 123'456;
    ASSERT_TRUE(Start());
    const int64_t before_ns = NowNs();
    if (yields) source_->Yield(NowNs() + kPlentyNs, "torch");
    if (!yields) Stop(kPlentyNs, AfterStop::kProgramGoesOn);
    cupti_.timestamp = 1;
    int64_t now = 0;
    EXPECT_TRUE(source_->ReadClock(&now));
    EXPECT_GE(now, 123'456) << yields;
    EXPECT_LE(now, 123'456 + NowNs() - before_ns) << yields;
  }
}

TEST_F(CuptiSourceTest, AClockThatFailsIsNoClock) {
  ASSERT_TRUE(Start());
  cupti_.answers["cuptiGetTimestamp"] = CUPTI_ERROR_NOT_COMPATIBLE;
  int64_t now = 0;
  EXPECT_FALSE(source_->ReadClock(&now));
  Stop();
}

TEST_F(CuptiSourceTest, TheStandInIsCountedInTheLedger) {
  g_simulated = true;
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(host_.CountOf(LedgerCounter::simulated_device), 1u);
}

TEST_F(CuptiSourceTest, SwitchedOffItTouchesNothingAndTimeIsUnknown) {
  options_.enabled = false;
  EXPECT_FALSE(Start());
  EXPECT_THAT(cupti_.calls(), IsEmpty());
  ExpectAllUnknownBecause("GPUBOUND_CUPTI is off");
  Stop();
}

TEST_F(CuptiSourceTest, WithoutALibraryTimeIsUnknown) {
  g_cupti = nullptr;
  EXPECT_FALSE(Start());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unavailable), 1u);
  ExpectAllUnknownBecause("no libcupti was found");
}

TEST_F(CuptiSourceTest, HeldByAnotherToolItSaysWhoAndTimeIsUnknown) {
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti_.answers["cuptiSubscribe_v2"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti_.holder = "CUPTI for Kineto";
  EXPECT_FALSE(Start());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_held_by_other), 1u);
  ExpectAllUnknownBecause("CUPTI for Kineto holds CUPTI");
  Stop();
}

TEST_F(CuptiSourceTest, AnErrorIsNamedWithTheLibrary) {
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_INVALID_DEVICE;
  EXPECT_FALSE(Start());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unavailable), 1u);
  ExpectAllUnknownBecause("libcupti-scripted.so");
}

TEST_F(CuptiSourceTest, ALibraryThatDoesNotKnowTheGpuIsFollowedByTheNext) {
  g_libraries = 2;
  g_second_works = true;
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_INVALID_DEVICE;
  EXPECT_TRUE(Start());
  Kernel(10, 20);
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unavailable), 0u);
}

TEST_F(CuptiSourceTest, ALibraryThatIsTooNewForTheDriverIsFollowedByTheNext) {
  g_libraries = 2;
  g_second_works = true;
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_NOT_INITIALIZED;
  EXPECT_TRUE(Start());
  Stop();
  EXPECT_EQ(CuptiInUse(), "libcupti-second.so");
  EXPECT_THAT(host_.unknowns, IsEmpty());
}

TEST_F(CuptiSourceTest, TheLibraryThatRecordsIsTheOneInUse) {
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(CuptiInUse(), "libcupti-scripted.so");
  g_libraries = 2;
  g_second_works = true;
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_INVALID_DEVICE;
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(CuptiInUse(), "libcupti-second.so");
}

TEST_F(CuptiSourceTest, WhenNoLibraryKnowsTheGpuTheFirstReasonIsGiven) {
  g_libraries = 2;
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_INVALID_DEVICE;
  EXPECT_FALSE(Start());
  EXPECT_EQ(cupti_.CallsOf("cuptiSubscribe"), 2);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unavailable), 1u);
  ExpectAllUnknownBecause("cuptiSubscribe failed with CUPTI error 2");
}

TEST_F(CuptiSourceTest, ALibraryThatIsHeldIsNotFollowedByAnother) {
  g_libraries = 2;
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_FALSE(Start());
  EXPECT_EQ(cupti_.CallsOf("cuptiSubscribe"), 1);
}

TEST_F(CuptiSourceTest, AKindThatIsMissingMakesTimeUnknownButTheRestIsRecorded) {
  cupti_.kind_answers[kKindMemset] = CUPTI_ERROR_INVALID_KIND;
  EXPECT_TRUE(Start());
  Kernel(10, 20);
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1u);
  ExpectAllUnknownBecause("memory sets");
}

TEST_F(CuptiSourceTest, AfterAFatalErrorCuptiIsLeftAloneAndTimeIsUnknown) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  cupti_.FailFatally();
  cupti_.FailFatally();
  Stop();
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityFlushAll"), 0);
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 0);
  ExpectAllUnknownBecause("fatal error");
}

TEST_F(CuptiSourceTest, AnotherToolIsGivenCuptiAndTimeIsUnknownFromThenOn) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  const int64_t before = NowNs();
  source_->Yield(NowNs() + kPlentyNs, "libtorch_cpu.so");
  EXPECT_EQ(cupti_.calls().back(), "cuptiUnsubscribe");
  EXPECT_EQ(host_.sink.devices.size(), 1u) << "what was before is recorded";
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_yielded), 1u);
  ExpectAllUnknownBecause("handed to libtorch_cpu.so");
  EXPECT_GE(host_.unknowns[0].from_ns, before);
}

TEST_F(CuptiSourceTest, WhatWasGivenAwayIsNotTouchedAgain) {
  ASSERT_TRUE(Start());
  source_->Yield(NowNs() + kPlentyNs, "libtorch_cpu.so");
  const int calls = cupti_.call_count();
  source_->Yield(NowNs() + kPlentyNs, "libtorch_cpu.so");
  Stop();
  EXPECT_EQ(cupti_.call_count(), calls);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_yielded), 1u);
}

TEST_F(CuptiSourceTest, CuptiIsKeptWhereTheUserSaysSo) {
  options_.keep = true;
  ASSERT_TRUE(Start());
  source_->Yield(NowNs() + kPlentyNs, "libtorch_cpu.so");
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 0);
  Kernel(10, 20);
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
  EXPECT_THAT(host_.notes, ElementsAre(HasSubstr("libtorch_cpu.so asks for CUPTI")));
}

TEST_F(CuptiSourceTest, WithoutCuptiThereIsNothingToGive) {
  g_cupti = nullptr;
  EXPECT_FALSE(Start());
  source_->Yield(NowNs() + kPlentyNs, "libtorch_cpu.so");
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_yielded), 0u);
}

TEST_F(CuptiSourceTest, WhenRecordingIsOffForGoodNothingIsConverted) {
  host_.sink_is_null = true;
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop(1'000'000);
  EXPECT_THAT(host_.sink.devices, IsEmpty());
}

// Work that runs while the kinds are switched off has no time. It was begun when the recording was
// over.
TEST_F(CuptiSourceTest, WorkBehindTheEndOfARecordingIsNoLoss) {
  for (const AfterStop after : {AfterStop::kProgramGoesOn, AfterStop::kProgramEnds}) {
    host_.counts.clear();
    ASSERT_TRUE(Start());
    Kernel(10, 20);
    cupti_.on_flush = [this] {
      if (cupti_.calls().back() == "cuptiActivityFlushAll 1") Kernel(0, 0);
    };
    Stop(kPlentyNs, after);
    cupti_.on_flush = nullptr;
    EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps),
              after == AfterStop::kProgramEnds ? 1u : 0u);
  }
}

TEST_F(CuptiSourceTest, WorkFromBeforeTheEndOfARecordingThatHasNoTimeIsLost) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;  // CUPTI tells of it at the very end only
  Kernel(0, 0);
  Stop(kPlentyNs, AfterStop::kProgramGoesOn);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 1u);
}

class CuptiBeforeItMayBeDeclined : public CuptiSourceFixture {
 protected:
  CuptiBeforeItMayBeDeclined() : CuptiSourceFixture(kCupti12_8) {}
};

// It crashes when it is.
TEST_F(CuptiBeforeItMayBeDeclined, IsGivenBuffersInAForkChild) {
  ASSERT_TRUE(Start());
  const pid_t child = fork();
  if (child == 0) {
    source_->AbandonInForkChild();
    Kernel(10, 20);
    _exit(cupti_.dropped == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  Stop();
}

TEST_F(CuptiSourceTest, AForkChildTouchesNothing) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  const pid_t child = fork();
  if (child == 0) {
    source_->AbandonInForkChild();
    const int before = cupti_.call_count();
    int64_t now = 0;
    const bool clock = source_->ReadClock(&now);
    // It must not wait for a thread that is not there.
    source_->Stop(NowNs() + kPlentyNs, AfterStop::kProgramEnds);
    source_.reset();
    _exit(!clock && cupti_.call_count() == before ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  Stop();
  EXPECT_EQ(host_.sink.devices.size(), 1u) << "the parent goes on";
}

}  // namespace
}  // namespace gpubound
