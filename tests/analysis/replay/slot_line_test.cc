// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/slot_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace gpubound {
namespace {

struct Piece {
  double ready = 0;
  double length = 0;
};

class SlotLineTest : public ::testing::Test {
 protected:
  // When |piece| starts.
  double Place(uint32_t slots, const Piece& piece, double hand_over = 0) {
    const SlotLine::Slot slot = line_.Take(slots, Moment{piece.ready}, hand_over);
    line_.Hold(slots, slot.from, slot.start.After(piece.length));
    return slot.start.at;
  }

  // In order of time; each is ready some time after the one before it.
  std::vector<Piece> Draw(size_t count, double mean_gap) {
    std::vector<Piece> pieces;
    double now = 0;
    for (size_t i = 0; i < count; ++i) {
      now += static_cast<double>(random_() % static_cast<uint64_t>(2 * mean_gap + 1));
      pieces.push_back({now, static_cast<double>(random_() % 200)});
    }
    return pieces;
  }

  std::mt19937_64 random_{1};
  SlotLine line_;
};

// When the pieces start that a device serves in their order.
std::vector<double> ServedInOrder(const std::vector<Piece>& pieces, uint32_t slots,
                                  double hand_over) {
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
  std::vector<double> starts;
  for (const Piece& piece : pieces) {
    double start = piece.ready;
    while (!ends.empty() && ends.top() <= start) ends.pop();
    if (ends.size() == slots) {
      start = ends.top() + hand_over;
      ends.pop();
    }
    starts.push_back(start);
    ends.push(start + piece.length);
  }
  return starts;
}

TEST_F(SlotLineTest, WithoutALimitNothingWaits) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Place(0, {5, 10}), 5);
}

TEST_F(SlotLineTest, WhatComesInOrderIsServedInOrder) {
  for (const uint32_t slots : {1u, 2u, 3u, 7u, 100u}) {
    for (const double hand_over : {0.0, 3.0}) {
      line_ = {};
      const std::vector<Piece> pieces = Draw(5000, 100.0 / slots);
      const std::vector<double> starts = ServedInOrder(pieces, slots, hand_over);
      for (size_t i = 0; i < pieces.size(); ++i) {
        ASSERT_EQ(Place(slots, pieces[i], hand_over), starts[i])
            << slots << " slots, hand-over " << hand_over << ", piece " << i;
      }
    }
  }
}

// The drawing in slot_line.h, to scale.
TEST_F(SlotLineTest, WhatWasReadyBeforeTakesAFreeSlotAndPutsOffWhatIsInItsWay) {
  EXPECT_EQ(Place(2, {0, 7}), 0);    // a
  EXPECT_EQ(Place(2, {0, 4}), 0);    // b
  EXPECT_EQ(Place(2, {7, 7}), 7);    // e
  EXPECT_EQ(Place(2, {11, 5}), 11);  // d
  EXPECT_EQ(Place(2, {4, 6}), 4);    // c
  // a until 7, e from then until 14; c until 10, d from 11 until 16.
  EXPECT_EQ(Place(2, {8, 1}), 10);
  EXPECT_EQ(Place(2, {8, 100}), 14);
  EXPECT_EQ(Place(2, {8, 1}), 16);
}

TEST_F(SlotLineTest, WorkThatIsPutOffIsBusyForAsLong) {
  EXPECT_EQ(Place(1, {100, 50}), 100);
  EXPECT_EQ(Place(1, {150, 30}), 150);
  EXPECT_EQ(Place(1, {50, 60}), 50);  // until 110, so that the others end at 160 and 190
  EXPECT_EQ(Place(1, {0, 1}), 0);
  EXPECT_EQ(Place(1, {170, 5}), 190);
}

// What waits for a slot has it from the end before it on, though it starts later.
TEST_F(SlotLineTest, NothingStartsWhileASlotIsHandedOver) {
  EXPECT_EQ(Place(1, {0, 100}, 5), 0);
  EXPECT_EQ(Place(1, {50, 10}, 5), 105);
  EXPECT_EQ(Place(1, {102, 10}, 5), 120);
}

// A single slot is busy at the same times in whatever order work is served.
TEST_F(SlotLineTest, OneSlotIsBusyForAsLongInAnyOrder) {
  for (int run = 0; run < 50; ++run) {
    line_ = {};
    std::vector<Piece> pieces = Draw(2000, 110);
    double over = 0;
    for (const Piece& piece : pieces) over = std::max(over, piece.ready) + piece.length;
    const double last_ready = pieces.back().ready;
    for (size_t i = 0; i + 10 <= pieces.size(); i += 10) {
      std::shuffle(pieces.begin() + static_cast<ptrdiff_t>(i),
                   pieces.begin() + static_cast<ptrdiff_t>(i) + 10, random_);
    }
    for (const Piece& piece : pieces) EXPECT_GE(Place(1, piece), piece.ready);
    EXPECT_EQ(Place(1, {last_ready, 1}), std::max(over, last_ready));
  }
}

}  // namespace
}  // namespace gpubound
