// SPDX-License-Identifier: Apache-2.0
//
// Which detail stays, against every chunk asked about every stretch of time.
#include "analysis/compact/retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/compact/settled_time.h"

namespace gpubound {
namespace {

constexpr int64_t kUntilNs = 1000;

bool HasPartIn(const StoredChunk& chunk, const Interval& time) {
  return chunk.time.begin_ns < time.end_ns && time.begin_ns <= chunk.time.end_ns;
}

bool Stays(const StoredChunk& chunk, const std::vector<Interval>& kept) {
  return chunk.time.end_ns >= kUntilNs ||
         std::any_of(kept.begin(), kept.end(),
                     [&chunk](const Interval& time) { return HasPartIn(chunk, time); });
}

class RetentionTest : public testing::TestWithParam<uint32_t> {
 protected:
  RetentionTest() : random_(GetParam()) {
    for (int i = 0; i < 60; ++i) {
      const int64_t begin_ns = Below(1100);
      chunks_.push_back({{begin_ns, begin_ns + Below(50)}, static_cast<uint64_t>(Below(10))});
    }
    for (int i = 0; i < 12; ++i) {
      const int64_t begin_ns = Below(900);
      kept_.push_back({begin_ns, begin_ns + Below(40)});
    }
  }
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  uint64_t BytesThatStay(const std::vector<Interval>& kept) const {
    uint64_t bytes = 0;
    for (const StoredChunk& chunk : chunks_) bytes += Stays(chunk, kept) ? chunk.bytes : 0;
    return bytes;
  }

  std::mt19937 random_;
  std::vector<StoredChunk> chunks_;
  std::vector<Interval> kept_;
};

TEST_P(RetentionTest, AChunkStaysThatHasAPartInKeptTime) {
  const std::vector<Interval> kept = Union(kept_);
  for (const StoredChunk& chunk : chunks_) {
    EXPECT_EQ(IsKept(chunk, kept, kUntilNs), Stays(chunk, kept))
        << chunk.time.begin_ns << ".." << chunk.time.end_ns;
  }
}

TEST_P(RetentionTest, OfKeptTimeTheNewestStaysThatThereIsRoomFor) {
  Retention retention;
  retention.max_bytes = static_cast<uint64_t>(Below(350));
  std::vector<Interval> expected = Union(kept_);
  while (!expected.empty() && BytesThatStay(expected) > *retention.max_bytes) {
    expected.erase(expected.begin());
  }
  EXPECT_EQ(KeptDetail(retention, chunks_, {}, kept_, kUntilNs), expected);
}

// Of four chunks, of which the limit has room for one.
TEST(SumUntilTest, TheLimitTakesNothingOfWhichMoreMayCome) {
  Retention retention;
  retention.max_bytes = 10;
  retention.window_ns = 1'000'000'000;
  const std::vector<StoredChunk> chunks = {
      {{0, 10}, 8}, {{10, 20}, 8}, {{20, 30}, 8}, {{30, 40}, 8}};
  EXPECT_EQ(SumUntil(retention, chunks, 40, INT64_MIN), 31);
  EXPECT_EQ(SumUntil(retention, chunks, 25, INT64_MIN), 25);
  EXPECT_EQ(SumUntil(retention, chunks, 25, 28), 28);
}

TEST(SumUntilTest, TheLimitDoesNotWaitForLong) {
  Retention retention;
  retention.max_bytes = 10;
  const int64_t later_ns = kLongestDeliveryNs + 100;
  const std::vector<StoredChunk> chunks = {
      {{0, 10}, 8}, {{10, later_ns - 7}, 8}, {{20, later_ns}, 8}};
  EXPECT_EQ(SumUntil(retention, chunks, 5, INT64_MIN), 100);
}

INSTANTIATE_TEST_SUITE_P(Random, RetentionTest, testing::Range(0u, 200u));

}  // namespace
}  // namespace gpubound
