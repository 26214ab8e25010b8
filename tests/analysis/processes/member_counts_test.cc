// SPDX-License-Identifier: Apache-2.0
#include "analysis/processes/member_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gpubound {
namespace {

TEST(BitSetTest, KnowsWhatWasAddedUntilItIsCleared) {
  BitSet set;
  EXPECT_FALSE(set.Has(64));
  EXPECT_TRUE(set.Add(64));
  EXPECT_FALSE(set.Add(64));
  EXPECT_TRUE(set.Add(0));
  EXPECT_TRUE(set.Has(64));
  EXPECT_TRUE(set.Has(0));
  EXPECT_FALSE(set.Has(63));
  EXPECT_FALSE(set.Has(1000));
  set.Clear();
  EXPECT_FALSE(set.Has(64));
  EXPECT_TRUE(set.Add(64));
}

TEST(BitSetTest, TakesInAShorterAndALongerOne) {
  BitSet set;
  set.Add(3);
  BitSet longer;
  longer.Add(200);
  set.Add(longer);
  longer.Clear();
  BitSet shorter;
  shorter.Add(1);
  set.Add(shorter);
  for (const size_t number : {1, 3, 200}) EXPECT_TRUE(set.Has(number)) << number;
  EXPECT_FALSE(set.Has(2));
}

TEST(MemberCountsTest, CountsOfManySetsAreThoseOfCountingOneByOne) {
  std::mt19937_64 random(1);
  MemberCounts counts;
  std::map<size_t, uint64_t> expected;
  for (int sets = 0; sets < 1000; ++sets) {
    BitSet set;
    // Some numbers are in nearly every set and others in few, and sets differ in length.
    const size_t below = 1 + random() % 300;
    for (size_t number = 0; number < below; ++number) {
      if (random() % 100 < number % 101 && set.Add(number)) ++expected[number];
    }
    counts.Count(set);
  }
  for (size_t number = 0; number < 400; ++number) {
    EXPECT_EQ(counts.count(number), expected[number]) << number;
  }
}

}  // namespace
}  // namespace gpubound
