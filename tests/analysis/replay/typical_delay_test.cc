// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/typical_delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "analysis/replay/sorting_network.h"

namespace gpubound {
namespace {

// By the 0-1 principle (Knuth, The Art of Computer Programming, volume 3, 5.3.4) a network sorts
// everything if it sorts zeros and ones; these are those in which a run of ones is out of place,
// and as many others as take no time.
TEST(SortingNetworkTest, SortsAnything) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  std::vector<std::array<double, kSortedAtOnce>> all;
  for (size_t begin = 0; begin < kSortedAtOnce; ++begin) {
    for (size_t end = begin; end <= kSortedAtOnce; ++end) {
      std::array<double, kSortedAtOnce>& ones = all.emplace_back();
      std::fill(ones.begin() + begin, ones.begin() + end, 1);
    }
  }
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t bits = random() & random();
    std::array<double, kSortedAtOnce>& ones = all.emplace_back();
    for (size_t k = 0; k < kSortedAtOnce; ++k) ones[k] = static_cast<double>(bits >> k & 1);
  }
  for (int i = 0; i < 10'000; ++i) {
    std::array<double, kSortedAtOnce>& numbers = all.emplace_back();
    for (double& number : numbers) number = static_cast<double>(random() % 100) - 50;
  }
  for (const std::array<double, kSortedAtOnce>& numbers : all) {
    std::array<double, kSortedAtOnce> sorted = numbers;
    SortAtOnce(&sorted);
    std::array<double, kSortedAtOnce> expected = numbers;
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(sorted, expected);
  }
}

TEST(TypicalDelayTest, IsTheMedianAndWhatLiesBetweenTheQuartiles) {
  std::mt19937_64 random(2);  // NOLINT(cert-msc51-cpp): the same each time
  for (size_t samples = 1; samples <= 31; ++samples) {
    TypicalDelay delay;
    std::vector<double> all;
    for (size_t i = 0; i < samples; ++i) {
      all.push_back(static_cast<double>(random() % 1000));
      delay.Add(all.back());
    }
    std::sort(all.begin(), all.end());
    const size_t last = samples - 1;
    EXPECT_EQ(delay.ns(), all[last / 2]);
    EXPECT_EQ(delay.spread(), all[last * 3 / 4] - all[last / 4]);
    EXPECT_EQ(delay.known_well(), samples >= 8);
  }
}

TEST(TypicalDelayTest, FollowsTheNewestAndNotAStrayOne) {
  TypicalDelay delay;
  EXPECT_FALSE(delay.known());
  for (int i = 0; i < 100; ++i) delay.Add(i % 10 == 0 ? 1e9 : 500);
  EXPECT_EQ(delay.ns(), 500);
  for (int i = 0; i < 48; ++i) delay.Add(7'000);
  EXPECT_EQ(delay.ns(), 7'000);
  EXPECT_EQ(delay.spread(), 0);
}

}  // namespace
}  // namespace gpubound
