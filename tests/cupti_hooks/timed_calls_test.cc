// SPDX-License-Identifier: Apache-2.0
//
// Calls that are timed in callbacks: which they are, what is known of each, and that none is lost
// but those that are counted.
#include "cupti_hooks/cupti/timed_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "proto/sync_types.h"
#include "tests/cupti_hooks/allocation_count.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr CUpti_CallbackDomain kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;
constexpr CUpti_CallbackDomain kDriver = CUPTI_CB_DOMAIN_DRIVER_API;
constexpr CUpti_CallbackId kLaunch = 211;
constexpr CUpti_CallbackId kStreamSynchronize = 131;
constexpr CUpti_CallbackId kDeviceSynchronize = 165;
constexpr CUpti_CallbackId kEventSynchronize = 139;
constexpr CUpti_CallbackId kWaitEvent = 147;
constexpr CUpti_CallbackId kRecordEvent = 135;
constexpr CUpti_CallbackId kDriverLaunch = 307;
constexpr CUpti_CallbackId kDriverRecordEvent = 120;
constexpr uint32_t kContext = 3;
constexpr uint32_t kOwnStream = 1000;  // added to a stream's id where none means the thread's own

std::atomic<uint64_t> g_now_ns{0};
std::atomic<bool> g_clock_fails{false};

CUptiResult ReadNow(uint64_t* now_ns) {
  *now_ns = ++g_now_ns;
  return g_clock_fails ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult IdOfStream(CUcontext, CUstream stream, uint8_t per_thread, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream)) + per_thread * kOwnStream;
  return CUPTI_SUCCESS;
}

void* Handle(uintptr_t number) { return reinterpret_cast<void*>(number); }

CuptiApi ApiWith(ScriptedCupti* cupti) {
  cupti->runtime_names = {{kLaunch, "cudaLaunchKernel_v7000"},
                          {kStreamSynchronize, "cudaStreamSynchronize_v3020"},
                          {kDeviceSynchronize, "cudaDeviceSynchronize_v3020"},
                          {kEventSynchronize, "cudaEventSynchronize_v3020"},
                          {kWaitEvent, "cudaStreamWaitEvent_v3020"},
                          {kRecordEvent, "cudaEventRecord_v3020"}};
  cupti->driver_names = {{kDriverLaunch, "cuLaunchKernel"},
                         {kDriverRecordEvent, "cuEventRecord_ptsz"}};
  CuptiApi api = cupti->api();
  api.cuptiGetTimestamp = &ReadNow;
  api.cuptiGetStreamIdEx = &IdOfStream;
  return api;
}

class TimedCallsTest : public ::testing::Test {
 protected:
  TimedCallsTest() {
    g_now_ns = 100;
    g_clock_fails = false;
  }

  // One call of a function; |inside| happens between its begin and its end.
  template <typename Inside>
  void Call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const std::vector<void*>& parameters,
            const Inside& inside, int32_t result = 0) {
    uint64_t slot = 0;
    CUpti_CallbackData data = {};
    data.functionParams = parameters.empty() ? nullptr : parameters.data();
    data.functionReturnValue = &result;
    data.contextUid = kContext;
    data.correlationData = &slot;
    data.correlationId = 9;
    data.callbackSite = CUPTI_API_ENTER;
    calls_.OnCall(domain, id, data);
    inside();
    data.callbackSite = CUPTI_API_EXIT;
    calls_.OnCall(domain, id, data);
  }
  void Call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
            const std::vector<void*>& parameters = {}, int32_t result = 0) {
    Call(
        domain, id, parameters, [] {}, result);
  }

  std::vector<TimedCall> TakeAll() {
    std::vector<TimedCall> taken;
    for (TimedCall call; calls_.Take(&call);) taken.push_back(call);
    return taken;
  }
  SyncRecord TakeSync() {
    const std::vector<TimedCall> taken = TakeAll();
    EXPECT_THAT(taken, SizeIs(1));
    if (taken.size() != 1) return {};
    EXPECT_NE(taken[0].awaited, Awaited::kNone);
    return SyncRecordOf(taken[0]);
  }

  ScriptedCupti cupti_{kCupti13_0};
  CuptiApi api_ = ApiWith(&cupti_);
  ApiFunctions functions_{api_, nullptr, QuietApis()};
  WakeSignal worker_;
  TimedCalls calls_{api_, functions_, &worker_};
};

TEST_F(TimedCallsTest, ACallOfTheDriverHasItsTimesItsThreadAndWhatItReturned) {
  Call(kDriver, kDriverLaunch, {}, 7);
  const std::vector<TimedCall> taken = TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].domain, kDriver);
  EXPECT_FALSE(taken[0].has_record);
  const ApiRecord record = ApiRecordOf(taken[0], LabelId{5});
  EXPECT_EQ(record.start_ns, 101u);
  EXPECT_EQ(record.end_ns, 102u);
  EXPECT_EQ(record.correlation, 9u);
  EXPECT_EQ(record.tid, static_cast<uint32_t>(syscall(SYS_gettid)));
  EXPECT_EQ(record.label, LabelId{5});
  EXPECT_EQ(record.result, 7);
}

TEST_F(TimedCallsTest, ACallAllocatesNothing) {
  const std::vector<void*> parameters = {nullptr, nullptr};
  const uint64_t before = AllocationsOfThisThread();
  for (int i = 0; i < 100; ++i) {
    Call(kRuntime, kRecordEvent, parameters,
         [&] { Call(kDriver, kDriverRecordEvent, parameters); });
    Call(kDriver, kDriverLaunch, parameters);
  }
  EXPECT_EQ(AllocationsOfThisThread(), before);
  EXPECT_THAT(TakeAll(), SizeIs(200));
}

TEST_F(TimedCallsTest, WhatARuntimeFunctionCallsOfTheDriverIsPartOfIt) {
  Call(kRuntime, kLaunch, {}, [this] { Call(kDriver, kDriverLaunch); });
  EXPECT_THAT(TakeAll(), IsEmpty()) << "CUPTI's record tells of the launch";
  Call(kDriver, kDriverLaunch);
  EXPECT_THAT(TakeAll(), SizeIs(1)) << "that call is over";
}

TEST_F(TimedCallsTest, AClockThatIsSetBackMakesTheCallShortAndIsCounted) {
  Call(kDriver, kDriverLaunch, {}, [] { g_now_ns = 50; });
  const std::vector<TimedCall> taken = TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].start_ns, 101u);
  EXPECT_EQ(taken[0].end_ns, 101u);
  EXPECT_EQ(calls_.TakeInverted(), 1u);
  EXPECT_EQ(calls_.TakeInverted(), 0u);
  EXPECT_EQ(calls_.TakeLost(), 0u);
}

TEST_F(TimedCallsTest, ACallWhoseEndHasNoTimeIsLostAndCounted) {
  Call(kDriver, kDriverLaunch, {}, [] { g_clock_fails = true; });
  EXPECT_THAT(TakeAll(), IsEmpty());
  EXPECT_EQ(calls_.TakeLost(), 1u);
}

TEST_F(TimedCallsTest, ACallWhoseBeginHasNoTimeIsLostAndCountedOnce) {
  g_clock_fails = true;
  Call(kDriver, kDriverLaunch, {}, [] { g_clock_fails = false; });
  EXPECT_THAT(TakeAll(), IsEmpty());
  EXPECT_EQ(calls_.TakeLost(), 1u);
}

TEST_F(TimedCallsTest, ARuntimeFunctionOnAnotherThreadHidesNothing) {
  Call(kRuntime, kLaunch, {},
       [this] { std::thread([this] { Call(kDriver, kDriverLaunch); }).join(); });
  EXPECT_THAT(TakeAll(), SizeIs(1));
}

TEST_F(TimedCallsTest, ACallThatBeganBeforeWeListenedIsNone) {
  int32_t result = 0;
  uint64_t slot = 0;
  CUpti_CallbackData data = {};
  data.callbackSite = CUPTI_API_EXIT;
  data.functionReturnValue = &result;
  data.correlationData = &slot;
  calls_.OnCall(kRuntime, kLaunch, data);
  calls_.OnCall(kDriver, kDriverLaunch, data);
  EXPECT_THAT(TakeAll(), IsEmpty());
  Call(kDriver, kDriverLaunch);
  EXPECT_THAT(TakeAll(), SizeIs(1)) << "the end of an unseen runtime call hides nothing";
}

TEST_F(TimedCallsTest, AWaitForAStreamSaysWhichAndIsNoSecondCall) {
  Call(kRuntime, kStreamSynchronize, {Handle(14)});
  const std::vector<TimedCall> taken = TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_TRUE(taken[0].has_record);
  const SyncRecord sync = SyncRecordOf(taken[0]);
  EXPECT_EQ(sync.type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  EXPECT_EQ(sync.context, kContext);
  EXPECT_EQ(sync.stream, 14u);
  EXPECT_EQ(sync.event, 0u);
  EXPECT_EQ(sync.correlation, 9u);
  EXPECT_LT(sync.start_ns, sync.end_ns);
}

TEST_F(TimedCallsTest, AWaitForAContextOrAnEventHasNoStream) {
  Call(kRuntime, kDeviceSynchronize);
  SyncRecord sync = TakeSync();
  EXPECT_EQ(sync.type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
  EXPECT_EQ(sync.stream, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  Call(kRuntime, kEventSynchronize, {Handle(0x500)});
  sync = TakeSync();
  EXPECT_EQ(sync.type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  EXPECT_EQ(sync.event, 0x500u);
  EXPECT_EQ(sync.stream, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
}

TEST_F(TimedCallsTest, AnEventIsRecordedInOneStreamAndAwaitedByAnother) {
  Call(kRuntime, kRecordEvent, {Handle(0x500), Handle(14)});
  const SyncRecord recorded = TakeSync();
  EXPECT_EQ(recorded.type, kSyncEventRecorded);
  EXPECT_EQ(recorded.event, 0x500u);
  EXPECT_EQ(recorded.stream, 14u);
  Call(kRuntime, kWaitEvent, {Handle(15), Handle(0x500), nullptr});
  const SyncRecord awaited = TakeSync();
  EXPECT_EQ(awaited.type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
  EXPECT_EQ(awaited.event, recorded.event);
  EXPECT_EQ(awaited.stream, 15u);
}

TEST_F(TimedCallsTest, NoStreamMeansTheThreadsOwnWhereTheFunctionSaysSo) {
  Call(kDriver, kDriverRecordEvent, {Handle(0x500), nullptr});
  EXPECT_EQ(TakeSync().stream, kOwnStream);
  Call(kRuntime, kRecordEvent, {Handle(0x500), nullptr});
  EXPECT_EQ(TakeSync().stream, 0u);
}

TEST_F(TimedCallsTest, ACallThatFailedAwaitedNothing) {
  Call(kRuntime, kStreamSynchronize, {Handle(14)}, 700);
  const std::vector<TimedCall> taken = TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].awaited, Awaited::kNone);
  EXPECT_TRUE(taken[0].has_record);
}

TEST_F(TimedCallsTest, OnceItIsClosedCuptiIsNotAskedAnyMore) {
  calls_.Close();
  const uint64_t before = g_now_ns;
  Call(kDriver, kDriverLaunch);
  Call(kRuntime, kStreamSynchronize, {Handle(14)});
  EXPECT_EQ(g_now_ns, before);
  EXPECT_THAT(TakeAll(), IsEmpty());
}

TEST_F(TimedCallsTest, WithoutACuptiThatKnowsStreamsNoneIsNamed) {
  api_.cuptiGetStreamIdEx = nullptr;
  Call(kRuntime, kStreamSynchronize, {Handle(14)});
  EXPECT_EQ(TakeSync().stream, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
}

TEST_F(TimedCallsTest, WhatFindsTheQueueFullIsLostAndCountedAndTheRestIsInOrder) {
  constexpr uint64_t kTooMany = 5;
  for (int lap = 0; lap < 3; ++lap) {
    const uint64_t before = g_now_ns;
    for (uint64_t i = 0; i < TimedCalls::kSize + kTooMany; ++i) Call(kDriver, kDriverLaunch);
    EXPECT_EQ(calls_.TakeLost(), kTooMany);
    const std::vector<TimedCall> taken = TakeAll();
    ASSERT_THAT(taken, SizeIs(TimedCalls::kSize));
    for (uint64_t i = 0; i < taken.size(); ++i) {
      ASSERT_EQ(taken[i].start_ns, before + 2 * i + 1);
    }
    // So that a lap begins in the middle of the queue.
    for (int i = 0; i < 7; ++i) Call(kDriver, kDriverLaunch);
    EXPECT_THAT(TakeAll(), SizeIs(7));
  }
  EXPECT_EQ(calls_.TakeLost(), 0u);
}

TEST_F(TimedCallsTest, ThreadsThatPutWhileTheWorkerTakesLoseNothingUncounted) {
  constexpr int kThreads = 4;
  constexpr uint64_t kCalls = 40'000;
  std::vector<std::thread> threads;
  std::atomic<int> running{kThreads};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, &running] {
      for (uint64_t i = 0; i < kCalls; ++i) Call(kDriver, kDriverLaunch);
      --running;
    });
  }
  std::set<uint64_t> begins;
  uint64_t taken = 0;
  uint64_t lost = 0;
  const auto take = [&] {
    for (const TimedCall& call : TakeAll()) {
      ++taken;
      begins.insert(call.start_ns);
    }
    lost += calls_.TakeLost();
  };
  while (running != 0) take();
  for (std::thread& thread : threads) thread.join();
  take();
  EXPECT_EQ(begins.size(), taken) << "one was taken twice";
  EXPECT_EQ(taken + lost, kThreads * kCalls);
}

}  // namespace
}  // namespace gpubound
