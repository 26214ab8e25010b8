// SPDX-License-Identifier: Apache-2.0
//
// One turn of the worker at a time, on virtual time: what is delivered, up to when everything is
// known, and what becomes unknown.
#include "cupti_hooks/cupti/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti_hooks/record_bytes.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ActivityBuffers* g_buffers = nullptr;
int64_t g_now_ns = 0;

void OnRequest(uint8_t** buffer, size_t* size, size_t*) {
  g_buffers->Request(g_now_ns, buffer, size);
}
void OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  g_buffers->Complete(buffer, valid);
}

class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() { DeliverWith({.count = 4, .bytes = 1 << 16, .small_count = 0}); }

  void DeliverWith(const ActivityBuffers::Options& options) {
    g_buffers = ActivityBuffers::Create(options);
    g_now_ns = 1000;
    api_.cuptiActivityRegisterCallbacks(&OnRequest, &OnComplete);
    delivery_ = std::make_unique<Delivery>(
        api_, g_buffers, &state_, &host_, &host_.sink, g_now_ns, [] { return g_now_ns; },
        cupti_is_gone_);
  }
  void At(int64_t now_ns) { g_now_ns = now_ns; }
  void Kernel(uint64_t start, uint64_t end) {
    cupti_.Emit(KernelBytes(kCupti13_0, "k", start, end));
  }
  void Query(CUpti_CallbackDomain domain, CUpti_CallbackId id, uint32_t correlation) {
    CUpti_CallbackData call = {};
    call.callbackSite = CUPTI_API_ENTER;
    call.correlationId = correlation;
    state_.OnCall(domain, id, call);
  }
  void LaunchByDriver(uint64_t times) {
    uint64_t slot = 0;
    CUpti_CallbackData call = {};
    call.correlationData = &slot;
    for (uint64_t i = 0; i < 2 * times; ++i) {
      call.callbackSite = i % 2 == 0 ? CUPTI_API_ENTER : CUPTI_API_EXIT;
      state_.OnCall(CUPTI_CB_DOMAIN_DRIVER_API, 307, call);
    }
  }
  size_t recorded() const { return host_.sink.devices.size(); }

  ScriptedCupti cupti_{kCupti13_0};
  const CuptiApi api_ = cupti_.api();
  RecordingHost host_;
  WakeSignal worker_;
  CallbackState state_{api_, &host_, QuietApis(), &worker_};
  std::atomic<bool> cupti_is_gone_{false};
  std::unique_ptr<Delivery> delivery_;
};

TEST_F(DeliveryTest, NeverFlushesBeforeARecordWasMade) {
  At(2000);
  delivery_->Flush(false);
  delivery_->Flush(true);
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityFlushAll"), 0);
  EXPECT_THAT(host_.delivered_until, ElementsAre(2000));
}

TEST_F(DeliveryTest, DeliversWhatIsCompleteAndSaysUntilWhen) {
  Kernel(10, 20);
  At(2000);
  delivery_->Flush(false);
  EXPECT_EQ(recorded(), 1u);
  EXPECT_EQ(host_.sink.publications, 1);
  EXPECT_THAT(host_.delivered_until, ElementsAre(2000));
  EXPECT_TRUE(delivery_->EverythingDelivered());
}

// It is the runtime's, which has asked it under its own correlation id.
TEST_F(DeliveryTest, AQueryOfTheDriverWithinOneOfTheRuntimesIsNoCallOfTheProgram) {
  Query(CUPTI_CB_DOMAIN_RUNTIME_API, 17, 5);
  Query(CUPTI_CB_DOMAIN_DRIVER_API, 304, 5);
  Query(CUPTI_CB_DOMAIN_DRIVER_API, 304, 6);
  EXPECT_EQ(state_.suppressed_calls.Take(), 2u);
  Query(CUPTI_CB_DOMAIN_DRIVER_API, 304, 0);
  Query(CUPTI_CB_DOMAIN_DRIVER_API, 304, 0);
  EXPECT_EQ(state_.suppressed_calls.Take(), 2u) << "without ids none is told from another";
}

TEST_F(DeliveryTest, WhatAnIncompleteBufferHoldsIsNotClaimedToBeKnown) {
  At(1500);
  cupti_.hold_back = true;
  Kernel(10, 0);
  At(2000);
  delivery_->Flush(false);
  EXPECT_EQ(recorded(), 0u);
  EXPECT_THAT(host_.delivered_until, ElementsAre(1500)) << "when the buffer was requested";
  EXPECT_FALSE(delivery_->EverythingDelivered());
}

TEST_F(DeliveryTest, NeverForcesDuringTheRun) {
  Kernel(10, 20);
  delivery_->Flush(false);
  EXPECT_THAT(cupti_.calls(), ::testing::Contains("cuptiActivityFlushAll 0"));
  EXPECT_THAT(cupti_.calls(), ::testing::Not(::testing::Contains("cuptiActivityFlushAll 1")));
}

TEST_F(DeliveryTest, WhatComesAfterTheFlushIsDrainedWithoutAnother) {
  cupti_.hold_back = true;
  Kernel(10, 20);
  delivery_->Flush(false);
  cupti_.Deliver();
  delivery_->Drain();
  EXPECT_EQ(recorded(), 1u);
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityFlushAll"), 1);
}

TEST_F(DeliveryTest, RecordsThatCuptiDroppedAreCountedAndTheTimeIsUnknownUntilAFlushIsClean) {
  Kernel(10, 20);
  cupti_.dropped = 3;
  At(2000);
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_records_dropped), 3u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 1000);
  EXPECT_EQ(host_.unknowns[0].to_ns, INT64_MAX);
  At(3000);
  delivery_->Flush(false);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].to_ns, 2000);
}

TEST_F(DeliveryTest, LossesThatGoOnAreOneUnknownInterval) {
  for (int64_t now = 2000; now <= 5000; now += 1000) {
    Kernel(0, 0);
    At(now);
    delivery_->Flush(false);
  }
  At(6000);
  delivery_->Flush(false);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 1000);
  EXPECT_EQ(host_.unknowns[0].to_ns, 5000);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_zero_timestamps), 4u);
}

TEST_F(DeliveryTest, ALossJustBeforeTheEndIsClosedAtTheEnd) {
  Kernel(0, 0);
  At(2000);
  delivery_->Flush(true);
  delivery_->Finish();
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].to_ns, 2000);
}

TEST_F(DeliveryTest, ALossInABufferThatCameAfterTheLastFlushIsUnknownTime) {
  cupti_.hold_back_forced = true;
  Kernel(0, 0);
  At(2000);
  delivery_->Flush(true);
  cupti_.Deliver();
  delivery_->Drain();
  At(3000);
  delivery_->Finish();
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 1000);
  EXPECT_EQ(host_.unknowns[0].to_ns, 3000);
  EXPECT_THAT(host_.delivered_until, ElementsAre(3000));
}

TEST_F(DeliveryTest, WhatCuptiDroppedAfterTheLastFlushIsUnknownTime) {
  Kernel(10, 20);
  At(2000);
  delivery_->Flush(true);
  cupti_.dropped = 3;
  At(3000);
  delivery_->Finish();
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_records_dropped), 3u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 2000);
  EXPECT_EQ(host_.unknowns[0].to_ns, 3000);
}

TEST_F(DeliveryTest, AProgramWithoutRecordsAsksCuptiForNothingAtTheEnd) {
  delivery_->Flush(true);
  delivery_->Finish();
  EXPECT_EQ(cupti_.CallsOf("cuptiActivityGetNumDroppedRecords"), 0);
}

TEST_F(DeliveryTest, WorkThatEndedBeforeItBeganIsCountedAndTheTimeIsUnknown) {
  Kernel(20, 10);
  At(2000);
  delivery_->Flush(false);
  EXPECT_EQ(recorded(), 0u);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_inverted_timestamps), 1u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 1000);
}

TEST_F(DeliveryTest, InvertedCallsAndWhatIsNoWorkLoseNoTime) {
  cupti_.Emit(ApiCallBytes(kCupti13_0, kKindRuntime, 211, 20, 10));
  cupti_.Emit(Blank(kKindMarker, kCupti13_0));
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_inverted_timestamps), 1u);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unknown_records), 0u);
  EXPECT_THAT(host_.unknowns, IsEmpty());
}

TEST_F(DeliveryTest, RecordsThatMayBeWorkOfAnUnknownKindMakeTimeUnknown) {
  cupti_.Emit(Blank(kKindOfTheFuture, kCupti13_0));
  cupti_.Emit(Blank(kKindKernelOfAKernel, kCupti13_0));
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_unknown_records), 2u);
  ASSERT_EQ(host_.unknowns.size(), 1u);
  EXPECT_EQ(host_.unknowns[0].from_ns, 1000);
}

TEST_F(DeliveryTest, ABufferThatCannotBeReadToItsEndMakesTimeUnknown) {
  cupti_.fail_record_after = 2;
  Kernel(10, 20);
  Kernel(20, 30);
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_api_errors), 1u);
  EXPECT_EQ(host_.unknowns.size(), 1u);
}

TEST_F(DeliveryTest, AFlushThatFailsIsCounted) {
  cupti_.answers["cuptiActivityFlushAll"] = CUPTI_ERROR_UNKNOWN;
  Kernel(10, 20);
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::cupti_api_errors), 1u);
}

TEST_F(DeliveryTest, WhenAllBuffersAreInUseCuptiCountsWhatItDrops) {
  cupti_.hold_back = true;
  for (int i = 0; i < 2000; ++i) Kernel(10, 20);  // 400 kB of records into 256 kB of buffers
  cupti_.hold_back = false;
  delivery_->Flush(false);
  EXPECT_EQ(recorded() + host_.CountOf(LedgerCounter::cupti_records_dropped), 2000u);
  EXPECT_GT(host_.CountOf(LedgerCounter::cupti_records_dropped), 0u);
}

TEST_F(DeliveryTest, BytesThatNobodyReadAreAsManyRecordsAsOthersWere) {
  DeliverWith({.count = 1, .bytes = 1 << 16, .small_count = 0, .may_decline = false});
  LaunchByDriver(100);  // takes no bytes of a buffer
  Kernel(10, 20);
  delivery_->Flush(false);
  ASSERT_EQ(recorded(), 1u);
  constexpr int kDiscarded = 10;
  for (int i = 0; i < kDiscarded; ++i) Kernel(10, 20);
  cupti_.Deliver();
  Kernel(30, 40);  // takes the only buffer, which nobody has read
  delivery_->Flush(false);
  EXPECT_EQ(recorded(), 2u);
  EXPECT_EQ(host_.CountOf(LedgerCounter::device_records_dropped), kDiscarded);
  EXPECT_EQ(host_.unknowns.size(), 1u);
}

TEST_F(DeliveryTest, ThreadIdsThatAreNotTheSystemsAreSaidOnce) {
  cupti_.Emit(ApiCallBytes(kCupti13_0, kKindRuntime, 211, 10, 20));
  delivery_->Flush(false);
  EXPECT_THAT(host_.notes, IsEmpty());
  for (int i = 0; i < 2; ++i) {
    cupti_.Emit(
        ApiCallBytes(kCupti13_0, kKindRuntime, 211, 10, 20).Set<uint32_t>(28, 2'440'376'320));
    delivery_->Flush(false);
  }
  ASSERT_EQ(host_.notes.size(), 1u);
  EXPECT_THAT(host_.notes[0], ::testing::HasSubstr("names threads otherwise"));
}

TEST_F(DeliveryTest, TimedCallsAreDeliveredBeforeTheirTimeIsKnownWithAndWithoutBuffers) {
  LaunchByDriver(1);
  At(2000);
  delivery_->Flush(false);
  EXPECT_EQ(host_.sink.apis.size(), 1u);
  EXPECT_THAT(host_.delivered_until, ElementsAre(2000));
  EXPECT_EQ(host_.sink.publications, 1);
  Kernel(10, 20);
  LaunchByDriver(1);
  delivery_->Drain();
  EXPECT_EQ(host_.sink.apis.size(), 2u) << "without a buffer that was handed back";
  LaunchByDriver(TimedCalls::kSize + 1);
  At(3000);
  delivery_->Flush(false);
  EXPECT_EQ(host_.CountOf(LedgerCounter::device_records_dropped), 1u);
  EXPECT_EQ(host_.sink.apis.size(), 2 + TimedCalls::kSize);
}

TEST_F(DeliveryTest, TheKnownTimeNeverGoesBack) {
  At(2000);
  delivery_->Flush(false);
  At(1500);
  delivery_->Flush(false);
  EXPECT_THAT(host_.delivered_until, ElementsAre(2000));
}

TEST_F(DeliveryTest, AFewRecordsASecondGetSmallBuffers) {
  Kernel(10, 20);
  At(1'000'000'000);
  delivery_->Flush(false);
  EXPECT_EQ(g_buffers->preferred_bytes(), size_t{32} << 10);
}

}  // namespace
}  // namespace gpubound
