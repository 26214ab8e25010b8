// SPDX-License-Identifier: Apache-2.0
//
// The two halves of a recorded event, in either order, apart, and alone.
#include "cupti_hooks/cupti/event_records.h"

#include <gtest/gtest.h>

#include "proto/sync_types.h"

namespace gpubound {
namespace {

class EventRecordsTest : public ::testing::Test {
 protected:
  bool Event(uint32_t correlation, uint64_t event = 5) {
    SyncRecord half{};
    half.event = event;
    half.correlation = correlation;
    half.type = kSyncEventRecorded;
    half.stream = 14;
    return events_.OnEvent(half, &joined_);
  }
  bool Call(uint32_t correlation, uint64_t start_ns = 100, uint64_t end_ns = 120) {
    ApiRecord call{};
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.correlation = correlation;
    return events_.OnCall(call, &joined_);
  }
  void ExpectJoined(uint32_t correlation) {
    EXPECT_EQ(joined_.correlation, correlation);
    EXPECT_EQ(joined_.type, kSyncEventRecorded);
    EXPECT_EQ(joined_.start_ns, 100u);
    EXPECT_EQ(joined_.end_ns, 120u);
    EXPECT_EQ(joined_.event, 5u);
    EXPECT_EQ(joined_.stream, 14u);
  }

  EventRecords events_;
  SyncRecord joined_{};
};

TEST_F(EventRecordsTest, AnEventTakesItsTimeFromACallThatCameBefore) {
  EXPECT_FALSE(Call(7));
  EXPECT_TRUE(Event(7));
  ExpectJoined(7);
}

TEST_F(EventRecordsTest, AnEventWaitsForTheTimeOfACallThatComesLater) {
  EXPECT_FALSE(Event(7));
  EXPECT_TRUE(Call(7));
  ExpectJoined(7);
}

TEST_F(EventRecordsTest, HalvesOfDifferentCallsStayApart) {
  EXPECT_FALSE(Event(7));
  EXPECT_FALSE(Call(8));
  EXPECT_TRUE(Call(7));
}

TEST_F(EventRecordsTest, APairIsJoinedOnce) {
  Event(7);
  EXPECT_TRUE(Call(7));
  EXPECT_FALSE(Event(7)) << "the same id again, after a wrap";
  EXPECT_TRUE(Call(7));
}

TEST_F(EventRecordsTest, HalvesThatStayAloneAreForgotten) {
  EXPECT_FALSE(Call(1));
  EXPECT_FALSE(Event(2));
  for (uint32_t id = 100; id < 100'000; ++id) {
    Call(2 * id);
    Event(2 * id + 1);
  }
  EXPECT_FALSE(Event(1));
  EXPECT_FALSE(Call(2));
}

TEST_F(EventRecordsTest, TheFunctionsThatRecordAnEventAreKnown) {
  EXPECT_TRUE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_RUNTIME_API, 135));
  EXPECT_TRUE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_RUNTIME_API, 370));
  EXPECT_TRUE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_DRIVER_API, 119));
  EXPECT_FALSE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_DRIVER_API, 135));
  EXPECT_FALSE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_RUNTIME_API, 119));
  EXPECT_FALSE(EventRecords::IsEventRecord(CUPTI_CB_DOMAIN_RESOURCE, 119));
}

}  // namespace
}  // namespace gpubound
