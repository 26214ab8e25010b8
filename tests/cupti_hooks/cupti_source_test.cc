// SPDX-License-Identifier: Apache-2.0
//
// The source with its thread, over a scripted CUPTI: start, end, and every way in which either goes
// wrong. Nothing here depends on how fast the thread is: each test ends with Stop, which waits.
#include "cupti_hooks/cupti_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "libprofiler/clock.h"
#include "tests/cupti_hooks/record_bytes.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kPlentyNs = 60'000'000'000;

ScriptedCupti* g_cupti = nullptr;
bool g_simulated = false;

int g_libraries = 1;          // how many there are to try
bool g_second_works = false;  // whatever the first said

bool LoadScripted(const CuptiSearch&, size_t* next, CuptiApi* api, std::string* why) {
  if (g_cupti == nullptr || *next >= static_cast<size_t>(g_libraries)) {
    *why = "no libcupti was found";
    return false;
  }
  ++*next;
  if (*next == 2 && g_second_works) g_cupti->answers.clear();
  *api = g_cupti->api();
  if (*next == 2) api->path = "libcupti-second.so";
  api->simulated_device = g_simulated;
  return true;
}

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

class CuptiSourceTest : public ::testing::Test {
 protected:
  CuptiSourceTest() {
    g_cupti = &cupti_;
    g_simulated = false;
    g_libraries = 1;
    g_second_works = false;
    options_.load = &LoadScripted;
  }
  ~CuptiSourceTest() override {
    // A worker that Stop gave up on still has to leave before what it uses is gone.
    while (source_ != nullptr && !source_->HasEnded()) std::this_thread::yield();
    source_.reset();
    g_cupti = nullptr;
  }

  bool Start() {
    source_ = std::make_unique<CuptiSource>(options_);
    before_start_ns_ = NowNs();
    return source_->Start(&host_);
  }
  void Stop(int64_t within_ns = kPlentyNs) { source_->Stop(NowNs() + within_ns); }
  void Kernel(uint64_t start, uint64_t end) {
    cupti_.Emit(KernelBytes(kCupti13_0, "k", start, end));
  }
  void ExpectAllUnknownBecause(const std::string& reason) {
    ASSERT_EQ(host_.unknowns.size(), 1u);
    EXPECT_GE(host_.unknowns[0].from_ns, before_start_ns_);
    EXPECT_EQ(host_.unknowns[0].to_ns, INT64_MAX);
    EXPECT_THAT(host_.unknowns[0].reason, HasSubstr(reason));
    EXPECT_THAT(host_.notes, ElementsAre(HasSubstr(reason)));
  }

  ScriptedCupti cupti_{kCupti13_0};
  RecordingHost host_;
  CuptiOptions options_;
  std::unique_ptr<CuptiSource> source_;
  int64_t before_start_ns_ = 0;
};

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

TEST_F(CuptiSourceTest, AProgramWithoutGpuCallsIsNeverFlushed) {
  ASSERT_TRUE(Start());
  Stop();
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityFlushAll"), 0);
  EXPECT_THAT(host_.unknowns, IsEmpty());
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

TEST_F(CuptiSourceTest, BuffersThatComeAfterTheForcedFlushAreWaitedFor) {
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

TEST_F(CuptiSourceTest, BuffersThatNeverComeAreCountedAndTheirTimeIsUnknown) {
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

TEST_F(CuptiSourceTest, AFlushThatHangsDoesNotHoldUpTheEnd) {
  std::atomic<bool> release{false};
  cupti_.on_flush = [&] {
    while (!release) std::this_thread::yield();
  };
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  Stop(1'000'000);  // returns, or the test runs into its time limit
  EXPECT_EQ(host_.CountOf(LedgerCounter::undelivered_device_buffers), 1u);
  const int calls = cupti_.call_count();
  release = true;
  while (!source_->HasEnded()) std::this_thread::yield();
  // By then CUPTI's own exit handlers may have run.
  EXPECT_EQ(cupti_.call_count(), calls);
}

TEST_F(CuptiSourceTest, AFlushThatHangsIsWaitedForAfterwardsWhereTheProgramGoesOn) {
  std::atomic<bool> release{false};
  cupti_.on_flush = [&] {
    while (!release) std::this_thread::yield();
  };
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  source_->Yield(NowNs() + 1'000'000, "torch");
  ASSERT_FALSE(host_.notes.empty());
  EXPECT_THAT(host_.notes.back(), HasSubstr("torch asked for CUPTI, which took too long"));
  release = true;
  while (!source_->HasEnded()) std::this_thread::yield();
  EXPECT_EQ(cupti_.CallsOf("cuptiUnsubscribe"), 1);
}

TEST_F(CuptiSourceTest, WorkThatIsStillRunningAtTheEndMakesTimeUnknown) {
  ASSERT_TRUE(Start());
  cupti_.hold_back = true;
  Kernel(10, 0);
  Stop();
  EXPECT_THAT(host_.sink.devices, IsEmpty());
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 1u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_GE(host_.unknowns[0].to_ns, host_.unknowns[0].from_ns);
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

TEST_F(CuptiSourceTest, AForkChildTouchesNothing) {
  ASSERT_TRUE(Start());
  Kernel(10, 20);
  const pid_t child = fork();
  if (child == 0) {
    source_->AbandonInForkChild();
    const int before = cupti_.call_count();
    int64_t now = 0;
    const bool clock = source_->ReadClock(&now);
    source_->Stop(NowNs() + kPlentyNs);  // must not wait for a thread that is not there
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
