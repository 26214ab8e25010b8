// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep/length_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace gpubound {
namespace {

constexpr auto kMost = static_cast<int64_t>(LengthCounts::kMostLengths);

LengthCounts Of(std::initializer_list<int64_t> lengths) {
  LengthCounts counts;
  for (const int64_t length : lengths) counts.Add(length);
  return counts;
}

// |count| lengths from |first| on, each |step| longer.
std::vector<int64_t> Ladder(int64_t count, int64_t first, int64_t step) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i) lengths.push_back(first + i * step);
  return lengths;
}

LengthCounts Of(const std::vector<int64_t>& lengths) {
  LengthCounts counts;
  for (const int64_t length : lengths) counts.Add(length);
  return counts;
}

TEST(LengthCountsTest, OfNothingAllIsZero) {
  LengthCounts counts;
  EXPECT_EQ(counts.MeanNs(), 0);
  EXPECT_EQ(counts.QuantilesNs().median_ns, 0);
  EXPECT_EQ(counts.QuantilesNs().p95_ns, 0);
  EXPECT_FALSE(counts.rounded());
}

TEST(LengthCountsTest, TheMedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  EXPECT_EQ(Of({10, 40, 20}).QuantilesNs().median_ns, 20);
  EXPECT_EQ(Of({10, 40, 20, 31}).QuantilesNs().median_ns, 25);
}

TEST(LengthCountsTest, APercentileIsTheSmallestLengthThatSoManyDoNotExceed) {
  EXPECT_EQ(Of(Ladder(100, 1, 1)).QuantilesNs().p95_ns, 95);
  EXPECT_EQ(Of(Ladder(20, 1, 1)).QuantilesNs().p95_ns, 19);
  EXPECT_EQ(Of(Ladder(19, 1, 1)).QuantilesNs().p95_ns, 19);
  EXPECT_EQ(Of({7}).QuantilesNs().p95_ns, 7);
}

// All in order, by hand.
LengthCounts::Quantiles QuantilesOf(std::vector<int64_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  const size_t middle = lengths.size() / 2;
  const int64_t above = lengths[middle];
  const int64_t below = lengths.size() % 2 == 0 ? lengths[middle - 1] : above;
  return {(below + above) / 2, lengths[(lengths.size() * 95 + 99) / 100 - 1]};
}

TEST(LengthCountsTest, LengthsThatComeOftenKeepTheirRank) {
  constexpr int64_t kYear = 31'536'000'000'000'000;
  std::mt19937_64 random(5);
  for (const int64_t range : {int64_t{1}, int64_t{7}, int64_t{900}, int64_t{1} << 40, kYear}) {
    for (const int64_t first : {int64_t{0}, int64_t{123'457}, kYear}) {
      const int64_t steps = std::min<int64_t>(range, 900);
      std::vector<int64_t> lengths;
      for (int i = 0; i < 3001; ++i) {
        // More of the short ones, and both ends.
        const auto step = static_cast<int64_t>(std::min(random() % 901, random() % 901)) % steps;
        lengths.push_back(first + range / steps * step);
        if (i % 100 == 0) lengths.push_back(first + range);
        if (i % 500 != 0 && i < 2999) continue;
        const LengthCounts counts = Of(lengths);
        const LengthCounts::Quantiles expected = QuantilesOf(lengths);
        EXPECT_FALSE(counts.rounded());
        EXPECT_EQ(counts.QuantilesNs().median_ns, expected.median_ns) << range << ' ' << first;
        EXPECT_EQ(counts.QuantilesNs().p95_ns, expected.p95_ns) << range << ' ' << first;
      }
    }
  }
}

// Damaged traces hold kernels of years.
TEST(LengthCountsTest, ASumOfMoreThanThereIsStaysThere) {
  LengthCounts counts = Of({INT64_MAX - 5, 3});
  EXPECT_EQ(counts.sum_ns(), INT64_MAX - 2);
  counts.Add(7);
  EXPECT_EQ(counts.sum_ns(), INT64_MAX);
  const std::vector<uint32_t> more(100, 1);
  counts.Add(more);
  counts.Add(Of({INT64_MAX}));
  EXPECT_EQ(counts.sum_ns(), INT64_MAX);
  EXPECT_EQ(counts.MeanNs(), INT64_MAX / 104);
}

TEST(LengthCountsTest, IsExactForAsManyDifferentLengthsAsItKeeps) {
  LengthCounts counts = Of(Ladder(kMost, 1'000'003, 977));
  EXPECT_FALSE(counts.rounded());
  // Rank 973 of 1024.
  EXPECT_EQ(counts.QuantilesNs().p95_ns, 1'000'003 + 972 * 977);
}

TEST(LengthCountsTest, BeyondThatRoundsDownByLessThanOnePartIn256) {
  const std::vector<int64_t> lengths = Ladder(kMost + 1, 1'000'003, 977);
  LengthCounts counts = Of(lengths);
  EXPECT_TRUE(counts.rounded());
  const int64_t exact = lengths[lengths.size() / 2];
  EXPECT_LE(counts.QuantilesNs().median_ns, exact);
  EXPECT_GT(counts.QuantilesNs().median_ns, exact - exact / 256);
}

TEST(LengthCountsTest, RoundedLengthsStillHaveTheirExactSumAndCount) {
  LengthCounts counts = Of(Ladder(kMost + 1, 0, 1));
  EXPECT_EQ(counts.count(), static_cast<uint64_t>(kMost) + 1);
  EXPECT_EQ(counts.sum_ns(), kMost * (kMost + 1) / 2);
}

TEST(LengthCountsTest, RoundedLengthsOfAllSizesKeepTheirRank) {
  std::vector<int64_t> lengths = Ladder(2000, 300, 1);
  for (int power = 12; power < 62; ++power) lengths.push_back(int64_t{1} << power);
  for (int64_t length = 0; length < 40; ++length) lengths.push_back(length);
  std::reverse(lengths.begin(), lengths.end());
  const LengthCounts counts = Of(lengths);
  EXPECT_TRUE(counts.rounded());
  // 40 short ones come first: rank 1046 of 2090 is length 1305, of which one bit in nine is
  // dropped.
  EXPECT_EQ(counts.QuantilesNs().median_ns, 1304);
}

TEST(LengthCountsTest, ManyAddedAtOnceAreThoseAddedOneByOne) {
  const std::vector<int64_t> lengths = Ladder(5000, 100, 13);
  for (const int64_t count : {int64_t{700}, std::ssize(lengths)}) {
    LengthCounts at_once;
    at_once.Add(3);
    const std::vector<uint32_t> added(lengths.begin(), lengths.begin() + count);
    at_once.Add(std::span(added));
    LengthCounts one_by_one;
    one_by_one.Add(3);
    for (const uint32_t length : added) one_by_one.Add(int64_t{length});
    EXPECT_EQ(at_once.count(), one_by_one.count());
    EXPECT_EQ(at_once.sum_ns(), one_by_one.sum_ns());
    EXPECT_EQ(at_once.rounded(), one_by_one.rounded());
    EXPECT_EQ(at_once.QuantilesNs().p95_ns, one_by_one.QuantilesNs().p95_ns);
  }
}

TEST(LengthCountsTest, TheOrderChangesNothing) {
  std::vector<int64_t> lengths = Ladder(5000, 100, 13);
  LengthCounts ascending = Of(lengths);
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same order each time
  std::shuffle(lengths.begin(), lengths.end(), random);
  LengthCounts shuffled = Of(lengths);
  EXPECT_EQ(shuffled.QuantilesNs().median_ns, ascending.QuantilesNs().median_ns);
  EXPECT_EQ(shuffled.QuantilesNs().p95_ns, ascending.QuantilesNs().p95_ns);
}

TEST(LengthCountsTest, LookingInBetweenChangesNothing) {
  const std::vector<int64_t> lengths = Ladder(3000, 100, 13);
  LengthCounts looked_at;
  for (const int64_t length : lengths) {
    looked_at.Add(length);
    EXPECT_LE(looked_at.QuantilesNs().median_ns, length);
  }
  const LengthCounts whole = Of(lengths);
  EXPECT_EQ(looked_at.QuantilesNs().median_ns, whole.QuantilesNs().median_ns);
  EXPECT_EQ(looked_at.QuantilesNs().p95_ns, whole.QuantilesNs().p95_ns);
  EXPECT_EQ(looked_at.rounded(), whole.rounded());
}

TEST(LengthCountsTest, TwoPartsAddedAreTheWhole) {
  const std::vector<int64_t> lengths = Ladder(3000, 100, 13);
  LengthCounts whole = Of(lengths);
  LengthCounts sum = Of(std::vector<int64_t>(lengths.begin(), lengths.begin() + 700));
  sum.Add(Of(std::vector<int64_t>(lengths.begin() + 700, lengths.end())));
  EXPECT_EQ(sum.QuantilesNs().median_ns, whole.QuantilesNs().median_ns);
  EXPECT_EQ(sum.QuantilesNs().p95_ns, whole.QuantilesNs().p95_ns);
  EXPECT_EQ(sum.MeanNs(), whole.MeanNs());
  EXPECT_EQ(sum.rounded(), whole.rounded());
}

}  // namespace
}  // namespace gpubound
