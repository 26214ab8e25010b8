// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep/cell_book.h"

#include <gtest/gtest.h>

#include <utility>

namespace gpubound {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// A window from 0 on in which work that fills the device runs throughout, but for a gap.
class CellBookTest : public testing::Test {
 protected:
  void Begin(int64_t begin_ns, uint32_t running) {
    GpuSegment segment;
    if (!window_.all.empty()) {
      segment = window_.all.back();
      const int64_t ns = begin_ns - segment.begin_ns;
      segment.sum_ns += int64_t{segment.running} * ns;
      segment.filled += segment.fill * static_cast<uint64_t>(ns);
    }
    segment.begin_ns = begin_ns;
    segment.mix = running == 0 ? kGpuIdle : GpuMix{1} << kCompute;
    segment.running = running;
    segment.fill = running == 0 ? 0 : kFillOne;
    window_.all.push_back(segment);
  }
  GpuTime BookedUntil(int64_t now_ns) {
    GpuSegment end = window_.all.back();
    end.begin_ns = INT64_MAX;
    window_.all.push_back(end);
    CellBook book(0, CpuState{}, CellBook::Devices::kTogether);
    book.OpenWindow(window_);
    book.BookUntil(now_ns);
    return book.Rows().front().time;
  }
  static FilledTime Full(int64_t ns) { return FilledTime{kFillOne} * static_cast<uint64_t>(ns); }

  GpuWindow window_;
};

TEST_F(CellBookTest, WhatAnHourFillsIsBookedThoughItDoesNotFitInto64Bits) {
  Begin(0, 1);
  EXPECT_TRUE(BookedUntil(3600 * kSecondNs).filled == Full(3600 * kSecondNs));
}

TEST_F(CellBookTest, ALongStretchOfSeveralSegmentsIsBookedAsTheyAre) {
  Begin(0, 2);
  Begin(100 * kSecondNs, 0);
  Begin(101 * kSecondNs, 1);
  const GpuTime time = BookedUntil(200 * kSecondNs);
  EXPECT_TRUE(time.filled == Full(199 * kSecondNs));
  EXPECT_EQ(time.by_state[kGpuIdle], kSecondNs);
  EXPECT_EQ(time.sum_ns, 299 * kSecondNs);
}

TEST_F(CellBookTest, StretchesOnBothSidesOfTheLongestThatFitAreExact) {
  for (const int64_t ns : {kLongestStretchNs - 1, kLongestStretchNs, kLongestStretchNs + 1}) {
    window_ = {};
    Begin(0, 1);
    EXPECT_TRUE(BookedUntil(ns).filled == Full(ns)) << ns;
  }
}

}  // namespace
}  // namespace gpubound
