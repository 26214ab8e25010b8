// SPDX-License-Identifier: Apache-2.0
//
// Iterations and their like, from the events of a loop.
#include "analysis/correction/loop_iterations.h"

#include <gmock/gmock.h>

#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kIterationNs = 1000;

class LoopIterationsTest : public testing::Test {
 protected:
  LoopIterationsTest() { process_.threads.emplace_back(); }

  void Add(SlotKind kind, uint64_t payload = 0) {
    process_.threads.back().events.push_back({now_ns_, payload, LabelId{}, kind});
  }
  void Scopes(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Add(SlotKind::kBegin);
      Add(SlotKind::kEnd);
    }
  }
  void Step() { Add(SlotKind::kStep, ++steps_); }
  void Recorded(uint64_t scopes) {
    Scopes(scopes);
    now_ns_ += kIterationNs;
    Step();
  }
  // As the recorder does it: the marks lie behind the steps, at their times.
  void Suspended(uint64_t scopes) {
    Add(SlotKind::kSuspension, 0);
    now_ns_ += kIterationNs;
    Step();
    Add(SlotKind::kSuspension, 1 + scopes);
  }
  std::vector<LoopIteration> Iterations() { return LoopIterations(process_, *SourceOf(process_)); }
  std::vector<LikeIterations> Matches() { return MatchSuspended(Iterations()); }

  ProcessTrace process_;
  int64_t now_ns_ = 0;
  uint64_t steps_ = 0;
};

TEST_F(LoopIterationsTest, AProcessWithoutSuspensionsHasNoIterationsToCompare) {
  Step();
  Recorded(2);
  EXPECT_THAT(Iterations(), IsEmpty());
}

TEST_F(LoopIterationsTest, IterationsLieBetweenSteps) {
  Step();
  Recorded(2);
  Suspended(3);
  const std::vector<LoopIteration> iterations = Iterations();
  ASSERT_THAT(iterations, SizeIs(2));
  EXPECT_EQ(iterations[0].length_ns(), kIterationNs);
  EXPECT_EQ(iterations[0].scopes, 2u);
  EXPECT_FALSE(iterations[0].suspended);
  EXPECT_TRUE(iterations[1].suspended);
  EXPECT_TRUE(iterations[1].whole);
  EXPECT_EQ(iterations[1].scopes, 3u);
}

TEST_F(LoopIterationsTest, AnIterationInWhichRecordingWentOnIsNotWhole) {
  Step();
  Add(SlotKind::kSuspension, 0);
  now_ns_ += 10;
  Add(SlotKind::kSuspension, 4);
  Recorded(1);
  EXPECT_FALSE(Iterations().front().whole);
  EXPECT_THAT(Matches(), IsEmpty());
}

TEST_F(LoopIterationsTest, AnIterationThatAnotherThreadEndedIsNotWhole) {
  Step();
  Add(SlotKind::kSuspension, 0);
  Recorded(1);
  EXPECT_FALSE(Iterations().front().whole);
}

TEST_F(LoopIterationsTest, TheLikeOfAnIterationAreThoseAroundItButTheNextOne) {
  Step();
  Recorded(5);
  Recorded(5);
  Suspended(5);
  Recorded(5);
  Recorded(5);
  ASSERT_THAT(Matches(), SizeIs(1));
  EXPECT_EQ(Matches()[0].suspended, 2u);
  EXPECT_THAT(Matches()[0].recorded, ElementsAre(0u, 1u, 4u));
}

TEST_F(LoopIterationsTest, IterationsWithOtherNumbersOfScopesAreNotLike) {
  Step();
  Recorded(100);
  Recorded(94);
  Recorded(95);
  Suspended(100);
  ASSERT_THAT(Matches(), SizeIs(1));
  EXPECT_THAT(Matches()[0].recorded, ElementsAre(0u, 2u));
}

TEST_F(LoopIterationsTest, IterationsTooFarAwayAreNotLike) {
  Step();
  for (int i = 0; i < 11; ++i) Recorded(5);
  Suspended(5);
  ASSERT_THAT(Matches(), SizeIs(1));
  EXPECT_EQ(Matches()[0].recorded.front(), 1u);
  EXPECT_THAT(Matches()[0].recorded, SizeIs(10));
}

TEST_F(LoopIterationsTest, AnIterationWithoutScopesTellsNothing) {
  Step();
  Recorded(0);
  Suspended(0);
  EXPECT_THAT(Matches(), IsEmpty());
}

}  // namespace
}  // namespace gpubound
