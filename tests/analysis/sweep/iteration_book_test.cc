// SPDX-License-Identifier: Apache-2.0
//
// Iterations as parts of a book of cells: what they were made of, and that an iteration is not
// charged for the operations of all others.
#include "analysis/sweep/iteration_book.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

constexpr Interval kSpan{0, 1'000'000};

CpuState In(OperationIndex operation) {
  CpuState state;
  state.operation = operation;
  return state;
}

// The device computes during the first half of each 10 ns.
class IterationBookTest : public testing::Test {
 protected:
  IterationBookTest() : cells_(0, In(0), CellBook::Devices::kTogether) {
    for (int64_t at = 0; at < kSpan.end_ns; at += 5) {
      GpuSegment segment;
      segment.begin_ns = at;
      segment.mix = at % 10 == 0 ? GpuMix{1} << kCompute : kGpuIdle;
      window_.all.push_back(segment);
    }
    GpuSegment end;
    end.begin_ns = INT64_MAX;
    window_.all.push_back(end);
    cells_.OpenWindow(window_);
  }
  void Spend(OperationIndex operation, int64_t ns) {
    cells_.SwitchTo(In(operation), now_ns_);
    now_ns_ += ns;
    cells_.BookUntil(now_ns_);
  }
  size_t CellsOfPart() const {
    size_t cells = 0;
    cells_.ForEachCellOfPart([&cells](const CpuState&, GpuState, int64_t) { ++cells; });
    return cells / kGpuMixes;
  }

  GpuWindow window_;
  CellBook cells_;
  int64_t now_ns_ = 0;
};

TEST_F(IterationBookTest, AnIterationIsMadeOfWhatItSpentTimeIn) {
  IterationBook book(kSpan, 4, /*first_counts=*/false);
  Spend(0, 100);
  book.Begin(now_ns_, false, &cells_);
  Spend(1, 20);
  book.Step(1, now_ns_, false, {}, &cells_);  // the first is warm-up
  Spend(3, 10);
  Spend(1, 30);
  book.Step(2, now_ns_, false, {}, &cells_);
  Spend(2, 10);
  book.Step(3, now_ns_, false, {}, &cells_);
  const IterationTimes times = book.Take();
  ASSERT_EQ(times.warm_up.size(), 1u);
  EXPECT_EQ(times.warm_up[0].busy_ns, 10);
  ASSERT_EQ(times.steady.size(), 2u);
  EXPECT_EQ(times.steady[0].busy_ns, 20);
  ASSERT_EQ(times.details.size(), 2u);
  ASSERT_EQ(times.details[0].operations.size(), 2u);
  EXPECT_EQ(times.details[0].operations[0].first, 1u);
  EXPECT_EQ(times.details[0].operations[0].second.wall_ns, 30);
  EXPECT_EQ(times.details[0].operations[1].first, 3u);
  EXPECT_EQ(times.details[0].operations[1].second.busy_ns, 5);
  EXPECT_EQ(times.details[0].idle_ns[static_cast<size_t>(In(0).cause)], 20);
  EXPECT_EQ(times.in_steady[1].wall_ns, 30);
  EXPECT_EQ(times.in_steady[2].wall_ns, 10);
  EXPECT_EQ(times.in_steady[0].wall_ns, 0);
}

TEST_F(IterationBookTest, AGapThatIsOpenAtItsEndGetsItsCauseWhenItIsOver) {
  IterationBook book(kSpan, 4, false);
  book.Begin(now_ns_, false, &cells_);
  Spend(1, 20);
  book.Step(1, now_ns_, false, {}, &cells_);
  QueuedPart part;
  constexpr auto kFrom = static_cast<size_t>(IdleCause::kUnknown);
  part.queued_ns[kFrom] = 5;
  part.open_ns[kFrom] = 3;
  part.open = true;
  Spend(1, 40);
  book.Step(2, now_ns_, false, part, &cells_);
  Spend(1, 40);
  book.Step(3, now_ns_, false, part, &cells_);
  book.EndGap(IdleCause::kEventWait);
  Spend(1, 40);
  book.Step(4, now_ns_, false, part, &cells_);
  book.EndGap(IdleCause::kUnknown);
  book.EndGap(IdleCause::kQueued);  // of none of these
  const IterationTimes times = book.Take();
  ASSERT_EQ(times.details.size(), 3u);
  for (const IterationDetail& detail : times.details) {
    const bool over = detail.index < 2;
    EXPECT_EQ(detail.idle_ns[kFrom], over ? 12 : 15) << detail.index;
    EXPECT_EQ(detail.idle_ns[static_cast<size_t>(IdleCause::kQueued)], 5);
    EXPECT_EQ(detail.idle_ns[static_cast<size_t>(IdleCause::kEventWait)], over ? 3 : 0);
  }
}

TEST_F(IterationBookTest, APartKnowsOnlyTheCellsThatItBookedTo) {
  constexpr OperationIndex kMany = 1000;
  for (OperationIndex operation = 0; operation < kMany; ++operation) Spend(operation, 10);
  EXPECT_EQ(CellsOfPart(), 0u);  // none has begun
  cells_.BeginPart();
  Spend(7, 10);
  Spend(8, 10);
  Spend(7, 10);
  EXPECT_GE(CellsOfPart(), 2u);
  EXPECT_LE(CellsOfPart(), 3u);  // with the one in which the part began
  cells_.BeginPart();
  EXPECT_EQ(CellsOfPart(), 0u);
}

TEST_F(IterationBookTest, APartGoesOnWhereItWasWrittenDown) {
  cells_.BeginPart();
  Spend(1, 20);
  StateArchive written;
  written.SetLimits(4, 1);
  cells_.Visit(written, In(1));
  const std::string bytes = written.Take();
  StateArchive read(bytes);
  read.SetLimits(4, 1);
  CellBook resumed(0, In(0), CellBook::Devices::kTogether);
  resumed.Visit(read, In(1));
  ASSERT_TRUE(read.done());
  int64_t wall_ns = 0;
  resumed.ForEachCellOfPart([&](const CpuState& cpu, GpuState, int64_t ns) {
    if (cpu.operation == 1) wall_ns += ns;
  });
  EXPECT_EQ(wall_ns, 20);
}

}  // namespace
}  // namespace gpubound
