// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/record_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace gpubound {
namespace {

using Times = std::vector<int64_t>;

Times InOrder(const Times& start_ns) {
  BeginOrder order;
  Times ordered;
  for (const uint32_t i : order.Of(start_ns)) ordered.push_back(start_ns[i]);
  return ordered;
}

Times Sorted(Times times) {
  std::sort(times.begin(), times.end());
  return times;
}

TEST(BeginOrderTest, OfNothingIsNothing) { EXPECT_EQ(InOrder({}), Times()); }

TEST(BeginOrderTest, OfEqualTimesKeepsThemAsTheyAre) {
  BeginOrder order;
  const Times times = {5, 5, 5};
  const std::span<const uint32_t> of = order.Of(times);
  EXPECT_EQ(std::vector<uint32_t>(of.begin(), of.end()), std::vector<uint32_t>({0, 1, 2}));
}

TEST(BeginOrderTest, BringsFallingTimesIntoOrder) {
  EXPECT_EQ(InOrder({900, 70, 8, -4}), Times({-4, 8, 70, 900}));
}

TEST(BeginOrderTest, KnowsTheWholeRangeOfTimes) {
  EXPECT_EQ(InOrder({INT64_MAX, 0, INT64_MIN}), Times({INT64_MIN, 0, INT64_MAX}));
}

TEST(BeginOrderTest, SortsWhatSharesABucketBecauseOneRecordLiesFarAway) {
  std::mt19937_64 random(1);
  Times times = {INT64_MAX};
  for (int i = 0; i < 2000; ++i) times.push_back(static_cast<int64_t>(random() % 100'000));
  EXPECT_EQ(InOrder(times), Sorted(times));
}

TEST(BeginOrderTest, SortsTimesInNoOrder) {
  std::mt19937_64 random(2);
  Times times;
  for (int i = 0; i < 3000; ++i) times.push_back(static_cast<int64_t>(random() % 5'000'000));
  EXPECT_EQ(InOrder(times), Sorted(times));
}

TEST(BeginOrderTest, SortsThreadsThatTakeTurns) {
  std::mt19937_64 random(3);
  Times times;
  for (int64_t i = 0; i < 1000; ++i) {
    for (int64_t thread = 0; thread < 4; ++thread) {
      times.push_back(100 * i + 50 * thread + static_cast<int64_t>(random() % 80));
    }
  }
  EXPECT_EQ(InOrder(times), Sorted(times));
}

TEST(BeginOrderTest, SaysWhetherSomeBeginTogether) {
  const auto has_ties = [](const Times& times) {
    BeginOrder order;
    order.Of(times);
    return order.has_ties();
  };
  EXPECT_FALSE(has_ties({}));
  EXPECT_FALSE(has_ties({1, 2, 3}));
  EXPECT_TRUE(has_ties({1, 2, 2}));
  EXPECT_FALSE(has_ties({3, 1, 2}));
  EXPECT_TRUE(has_ties({3, 1, 2, 3}));
  EXPECT_TRUE(has_ties({INT64_MAX, 0, INT64_MIN, 0}));
}

TEST(BeginOrderTest, ForgetsTheTiesOfTheTimesBefore) {
  BeginOrder order;
  for (const Times& times : {Times{2, 1, 2}, Times{}, Times{2, 1, 3}}) order.Of(times);
  EXPECT_FALSE(order.has_ties());
}

TEST(SortTiesTest, OrdersOnlyWhatBeginsTogether) {
  std::vector<ThreadOverhead> overheads = {
      {{1, 9, 0, {}}, 0}, {{4, 8, 0, {}}, 0}, {{4, 6, 0, {}}, 0}, {{7, 8, 0, {}}, 0}};
  SortTies(std::span(overheads));
  EXPECT_EQ(overheads[1].overhead.end_ns, 6);
  EXPECT_EQ(overheads[2].overhead.end_ns, 8);
}

}  // namespace
}  // namespace gpubound
