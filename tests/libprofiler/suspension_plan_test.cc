// SPDX-License-Identifier: Apache-2.0
//
// The choice of iterations, step by step on virtual time.
#include "libprofiler/suspension_plan.h"

#include <gmock/gmock.h>

#include <vector>

namespace gpubound {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;
using Verdict = SuspensionPlan::Verdict;

constexpr uint32_t kStretch = SuspensionPlan::kFirstStretch;
constexpr int64_t kUsualNs = 1'000'000;

class SuspensionPlanTest : public testing::Test {
 protected:
  // Ends |count| iterations, and the first step, which ends none; numbers of those suspended.
  std::vector<uint32_t> Run(SuspensionPlan* plan, uint32_t count, int64_t iteration_ns = kUsualNs) {
    std::vector<uint32_t> suspended;
    for (uint32_t i = 0; i <= count; ++i) {
      if (plan->OnStep(now_ns_)) suspended.push_back(i);
      now_ns_ += iteration_ns;
    }
    return suspended;
  }
  int64_t now_ns_ = 5'000'000'000;
};

TEST_F(SuspensionPlanTest, NoIterationOfTheFirstStretchIsSuspended) {
  SuspensionPlan plan(true, 1);
  EXPECT_THAT(Run(&plan, kStretch - 1), IsEmpty());
  EXPECT_EQ(plan.verdict(), Verdict::kWaiting);
}

TEST_F(SuspensionPlanTest, OneIterationOfEachLaterStretchIsSuspended) {
  SuspensionPlan plan(true, 1);
  EXPECT_THAT(Run(&plan, 11 * kStretch), SizeIs(10));
  EXPECT_EQ(plan.verdict(), Verdict::kMeasuring);
}

TEST_F(SuspensionPlanTest, NoSuspendedIterationIsTheFirstOrTheLastOfItsStretch) {
  SuspensionPlan plan(true, 7);
  std::vector<uint32_t> places;
  for (const uint32_t i : Run(&plan, 100 * kStretch)) places.push_back(i % kStretch);
  EXPECT_THAT(places, Each(AllOf(Ge(1u), Le(kStretch - 2))));
}

TEST_F(SuspensionPlanTest, TheSameSeedChoosesTheSameIterations) {
  SuspensionPlan first(true, 3);
  SuspensionPlan second(true, 3);
  SuspensionPlan other(true, 4);
  const std::vector<uint32_t> chosen = Run(&first, 20 * kStretch);
  EXPECT_EQ(Run(&second, 20 * kStretch), chosen);
  EXPECT_NE(Run(&other, 20 * kStretch), chosen);
}

TEST_F(SuspensionPlanTest, StretchesDoubleWhenTheyHaveToldMuch) {
  SuspensionPlan plan(true, 1);
  constexpr uint32_t kMany = SuspensionPlan::kSuspendedPerLength;
  Run(&plan, (1 + kMany) * kStretch);
  now_ns_ -= kUsualNs;  // the next step is one of the same loop
  uint32_t suspended = 0;
  for (uint32_t i = 0; i < 20 * kStretch; ++i) {
    suspended += plan.OnStep(now_ns_ += kUsualNs) ? 1 : 0;
  }
  EXPECT_EQ(suspended, 10u);
}

TEST_F(SuspensionPlanTest, IterationsThatAreTooShortForTheirCostAreLeftAlone) {
  SuspensionPlan plan(true, 1);
  EXPECT_THAT(Run(&plan, 5 * kStretch, SuspensionPlan::kShortestNs - 1), IsEmpty());
  EXPECT_EQ(plan.verdict(), Verdict::kTooShort);
}

TEST_F(SuspensionPlanTest, IterationsThatAreTooLongToTellAnythingAreLeftAlone) {
  SuspensionPlan plan(true, 1);
  EXPECT_THAT(Run(&plan, 5 * kStretch, SuspensionPlan::kLongestNs + 1), IsEmpty());
  EXPECT_EQ(plan.verdict(), Verdict::kTooLong);
}

TEST_F(SuspensionPlanTest, ALoopThatSettlesDownIsMeasuredFromThenOn) {
  SuspensionPlan plan(true, 1);
  Run(&plan, 2 * kStretch, SuspensionPlan::kLongestNs + 1);
  EXPECT_THAT(Run(&plan, 4 * kStretch), SizeIs(Ge(2u)));
  EXPECT_EQ(plan.verdict(), Verdict::kMeasuring);
}

TEST_F(SuspensionPlanTest, ASuspendedIterationMayLastFourTimesTheUsual) {
  SuspensionPlan plan(true, 1);
  Run(&plan, 2 * kStretch);
  EXPECT_EQ(plan.longest_ns(), 4 * kUsualNs);
}

TEST_F(SuspensionPlanTest, APlanThatIsOffSuspendsNothing) {
  SuspensionPlan plan(false, 1);
  EXPECT_THAT(Run(&plan, 10 * kStretch), IsEmpty());
  EXPECT_EQ(plan.verdict(), Verdict::kOff);
}

}  // namespace
}  // namespace gpubound
