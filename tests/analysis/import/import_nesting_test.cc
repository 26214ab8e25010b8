// SPDX-License-Identifier: Apache-2.0
//
// Intervals of one thread as begins and ends.
#include "analysis/import/import_nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gpubound {
namespace {

using ::testing::ElementsAre;

// A scope with label |label|.
CpuInterval Scope(int64_t start_ns, int64_t end_ns, uint32_t label) {
  CpuInterval interval;
  interval.start_ns = start_ns;
  interval.end_ns = end_ns;
  interval.label = static_cast<LabelId>(label);
  return interval;
}

CpuInterval Iteration(int64_t start_ns, int64_t end_ns, int64_t number) {
  CpuInterval interval = Scope(start_ns, end_ns, 0);
  interval.kind = CpuKind::kIteration;
  interval.number = number;
  return interval;
}

std::string TextOf(const NestedEvent& event) {
  const std::string time = std::to_string(event.time_ns);
  const std::string label = std::to_string(Raw(event.label));
  const std::string payload = std::to_string(static_cast<int64_t>(event.payload));
  switch (event.kind) {
    case SlotKind::kBegin:
      return time + " begin " + label;
    case SlotKind::kEnd:
      return time + " end " + label;
    case SlotKind::kRangeStart:
      return time + " range " + payload + " of " + label;
    case SlotKind::kRangeEnd:
      return time + " end of range " + payload;
    case SlotKind::kStep:
      return time + (event.payload == kIterationsBegin ? " iterations begin" : " step " + payload);
    default:
      return time + " something else";
  }
}

std::vector<std::string> Nested(std::vector<CpuInterval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<std::string> events;
  uint64_t next_range = 1;
  ThreadNesting nesting([&](const NestedEvent& event) { events.push_back(TextOf(event)); },
                        &next_range);
  for (const CpuInterval& interval : intervals) nesting.Add(interval);
  nesting.Finish();
  return events;
}

TEST(ImportNesting, InnerIntervalsEndFirst) {
  EXPECT_THAT(
      Nested({Scope(0, 10, 1), Scope(2, 5, 2), Scope(5, 10, 3)}),
      ElementsAre("0 begin 1", "2 begin 2", "5 end 2", "5 begin 3", "10 end 3", "10 end 1"));
}

TEST(ImportNesting, TheLongerOfTwoThatStartTogetherIsOutside) {
  EXPECT_THAT(Nested({Scope(0, 5, 1), Scope(0, 10, 2)}),
              ElementsAre("0 begin 2", "0 begin 1", "5 end 1", "10 end 2"));
}

TEST(ImportNesting, WhatOutlastsItsSurroundingsIsARange) {
  EXPECT_THAT(Nested({Scope(0, 10, 1), Scope(5, 15, 1), Scope(6, 9, 1)}),
              ElementsAre("0 begin 1", "5 range 1 of 1", "6 begin 1", "9 end 1", "10 end 1",
                          "15 end of range 1"));
}

TEST(ImportNesting, OneOfNoLengthIsOverBeforeTheNextBegins) {
  EXPECT_THAT(Nested({Scope(0, 10, 1), Scope(4, 4, 2), Scope(4, 6, 3)}),
              ElementsAre("0 begin 1", "4 begin 3", "4 begin 2", "4 end 2", "6 end 3", "10 end 1"));
}

TEST(ImportNesting, AnIterationIsTheStepThatEndsIt) {
  EXPECT_THAT(
      Nested({Iteration(10, 20, 7), Iteration(20, 30, 8), Scope(12, 14, 1)}),
      ElementsAre("10 iterations begin", "12 begin 1", "14 end 1", "20 step 7", "30 step 8"));
}

TEST(ImportNesting, AnIterationThatDoesNotFollowTheOneBeforeBeginsAnew) {
  EXPECT_THAT(Nested({Iteration(10, 20, 7), Iteration(25, 30, 8), Iteration(30, 40, 9)}),
              ElementsAre("10 iterations begin", "20 step 7", "25 iterations begin", "30 step 8",
                          "40 step 9"));
}

TEST(ImportNesting, AnIterationWithinAnotherBeginsNoneAnew) {
  EXPECT_THAT(Nested({Iteration(10, 30, 7), Iteration(15, 20, 8)}),
              ElementsAre("10 iterations begin", "20 step 8", "30 step 7"));
}

TEST(ImportNesting, TheFirstIterationMayBeNumberZero) {
  EXPECT_THAT(Nested({Iteration(0, 5, 0)}), ElementsAre("0 iterations begin", "5 step 0"));
}

TEST(ImportNesting, TiesAreBrokenByTheDeeperLayer) {
  CpuInterval call = Scope(0, 10, 1);
  call.layer = Layer::kCudaApi;
  CpuInterval operation_of_backend = Scope(0, 10, 2);
  operation_of_backend.layer = Layer::kBackend;
  EXPECT_THAT(Nested({call, operation_of_backend}),
              ElementsAre("0 begin 2", "0 begin 1", "10 end 1", "10 end 2"));
}

}  // namespace
}  // namespace gpubound
