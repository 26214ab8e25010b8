// SPDX-License-Identifier: Apache-2.0
//
// The end of a source whose CUPTI is slow, holds buffers back or does not answer: of a recording,
// of the program, and of both one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/cupti_hooks/cupti_source_fixture.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CuptiEndTest : public CuptiSourceFixture {
 protected:
  ~CuptiEndTest() override { release_ = true; }
  // A flush does not return before |release_|.
  void HangInFlushes() {
    cupti_.on_flush = [this] {
      while (!release_) std::this_thread::yield();
    };
  }

  void Launched(uint32_t correlation, uint64_t start_ns, uint64_t end_ns) {
    cupti_.Emit(KernelBytes(kCupti13_0, "k", start_ns, end_ns).Set(92, correlation));
  }
  static constexpr uint64_t kBehindTheEndNs = kPlentyNs;  // the scripted clock is at 0.1 ms

  std::atomic<bool> release_{false};
};

TEST_F(CuptiEndTest, BuffersThatComeAfterTheForcedFlushAreWaitedFor) {
  cupti_.hold_back = true;
  cupti_.hold_back_forced = true;
  std::atomic<bool> forced{false};
  cupti_.on_flush = [&] {
    if (cupti_.CallsOf("cuptiActivityDisable") > 0) forced = true;
  };
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  std::thread cuptis_own([&] {
    while (!forced) std::this_thread::yield();
    cupti_.Deliver();
  });
  Stop();
  cuptis_own.join();
  EXPECT_EQ(host_.sink.devices.size(), 1u);
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 0u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
}

TEST_F(CuptiEndTest, BuffersThatNeverComeAreCountedAndTheirTimeIsUnknown) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;
  cupti_.hold_back_forced = true;
  const int64_t before_work = NowNs();
  Kernel(10, 20);
  Stop(1'000'000);
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 1u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_LE(host_.unknowns[0].from_ns, NowNs());
  EXPECT_GE(host_.unknowns[0].from_ns, before_start_ns_);
  EXPECT_LE(before_start_ns_, before_work);
  EXPECT_EQ(host_.unknowns[0].to_ns, INT64_MAX);
}

TEST_F(CuptiEndTest, AFlushThatHangsDoesNotHoldUpTheEnd) {
  HangInFlushes();
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop(1'000'000);  // returns, or the test runs into its time limit
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 1u);
  const int calls = cupti_.call_count();
  release_ = true;
  while (!source_->HasEnded()) std::this_thread::yield();
  // By then CUPTI's own exit handlers may have run.
  EXPECT_EQ(cupti_.call_count(), calls);
}

TEST_F(CuptiEndTest, AFlushThatHangsIsWaitedForAfterwardsWhereTheProgramGoesOn) {
  HangInFlushes();
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  source_->Yield(NowNs() + 1'000'000, "torch");
  ASSERT_FALSE(host_.notes.empty());
  EXPECT_THAT(host_.notes.back(), HasSubstr("torch asked for CUPTI, which took too long"));
  release_ = true;
  while (!source_->HasEnded()) std::this_thread::yield();
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 1);
}

// `gpubound run --duration`: the program is rid of CUPTI then, however long that takes.
TEST_F(CuptiEndTest, ARecordingThatEndsBeforeTheProgramGivesCuptiUpWhenTheFlushReturns) {
  HangInFlushes();
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop(1'000'000, AfterStop::kProgramGoesOn);
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 1u);
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 0);
  // A tool that asks meanwhile waits for it, and nothing is said of a recording that is over.
  source_->Yield(NowNs() + 1'000'000, "torch");
  EXPECT_THAT(host_.notes, IsEmpty());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_yielded), 0u);
  release_ = true;
  source_->Yield(NowNs() + kPlentyNs, "torch");
  EXPECT_TRUE(source_->HasEnded());
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 1);
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 1u);
}

// It is not kept: nobody records.
TEST_F(CuptiEndTest, CuptiThatIsToBeKeptIsGivenUpWithTheRecording) {
  options_.keep = true;
  HangInFlushes();
  ASSERT_TRUE(Start());
  Stop(1'000'000, AfterStop::kProgramGoesOn);
  source_->Yield(NowNs() + 1'000'000, "torch");
  EXPECT_THAT(host_.notes, IsEmpty());
}

TEST_F(CuptiEndTest, AProgramThatEndsMeanwhileLeavesCuptiAlone) {
  HangInFlushes();
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop(1'000'000, AfterStop::kProgramGoesOn);
  source_->Abandon();
  const int calls = cupti_.call_count();
  release_ = true;
  while (!source_->HasEnded()) std::this_thread::yield();
  EXPECT_EQ(cupti_.call_count(), calls);
}

// A program that is far ahead of its device: its queue is handed back by the forced flush.
TEST_F(CuptiEndTest, WorkThatIsQueuedBehindTheEndIsNoLoss) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;
  Launched(10, 100, 200);
  Launched(11, 300, kBehindTheEndNs);
  Launched(12, 0, 0);
  Launched(13, 0, 0);
  Stop(kPlentyNs, AfterStop::kProgramGoesOn);
  EXPECT_EQ(host_.sink.devices.size(), 2u);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 0u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
}

TEST_F(CuptiEndTest, WhatMayHaveRunBeforeTheEndIsLostAndItsTimeIsUnknown) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;
  Launched(10, 100, 200);
  Launched(11, 0, 0);
  Launched(12, 300, kBehindTheEndNs);
  Launched(13, 0, 0);
  const int64_t launched_ns = NowNs();
  Stop(kPlentyNs, AfterStop::kProgramGoesOn);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 1u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_LE(host_.unknowns[0].from_ns, launched_ns);
  EXPECT_LT(host_.unknowns[0].to_ns, INT64_MAX);
}

TEST_F(CuptiEndTest, WithoutCuptisClockItIsNotKnownWhatIsQueued) {
  ASSERT_TRUE(Start());
  cupti_.answers["cuptiGetTimestamp"] = CUPTI_ERROR_NOT_COMPATIBLE;
  cupti_.hold_back = true;
  Launched(11, 300, kBehindTheEndNs);
  Launched(12, 0, 0);
  Stop(kPlentyNs, AfterStop::kProgramGoesOn);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 1u);
}

TEST_F(CuptiEndTest, WorkThatIsStillRunningAtTheEndMakesTimeUnknown) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;
  Kernel(10, 0);
  Stop();
  EXPECT_THAT(host_.sink.devices, IsEmpty());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 1u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_GE(host_.unknowns[0].to_ns, host_.unknowns[0].from_ns);
}

}  // namespace
}  // namespace gpubound
