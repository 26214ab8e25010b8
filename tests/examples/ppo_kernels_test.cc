// SPDX-License-Identifier: Apache-2.0
//
// Acting, advantages and losses against their definitions, computed the slow way.
#include "examples/cartpole_ppo/ppo_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "examples/cartpole_ppo/random.h"
#include "tests/examples/device_values.h"

namespace gpubound::cartpole {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

class PpoKernelsTest : public testing::Test {
 protected:
  template <typename T>
  DeviceValues<T> Device(std::vector<T> values) {
    return DeviceValues<T>(stream_, values);
  }
  DeviceValues<float> Room(size_t count) { return DeviceValues<float>(stream_, count); }

  Stream stream_;
};

class SampleActionsTest : public PpoKernelsTest {
 protected:
  static constexpr size_t kCount = 4096;

  // Draws kCount actions with the same two logits.
  std::vector<int32_t> Draw(float left, float right, uint64_t seed, uint64_t first_draw) {
    std::vector<float> logits(kCount, left);
    logits.insert(logits.end(), kCount, right);
    const auto on_device = Device(logits);
    DeviceValues<int32_t> actions(stream_, kCount);
    kSampleActions(stream_.get(), kCount, kCount, seed, first_draw, on_device.get(), actions.get(),
                   log_probabilities_.get());
    return actions.Read();
  }

  DeviceValues<float> log_probabilities_ = Room(kCount);
};

TEST_F(SampleActionsTest, ActionsComeAsOftenAsTheirProbabilitySays) {
  const std::vector<int32_t> actions = Draw(std::log(3.0f) + 50.0f, 50.0f, 1, 0);
  const double right = std::accumulate(actions.begin(), actions.end(), 0.0) / kCount;
  EXPECT_NEAR(right, 0.25, 4 * std::sqrt(0.25 * 0.75 / kCount));  // four standard deviations
}

TEST_F(SampleActionsTest, LogProbabilitiesAreThoseOfTheActionsDrawn) {
  const std::vector<int32_t> actions = Draw(std::log(3.0f), 0.0f, 1, 0);
  std::vector<float> expected;
  for (int32_t action : actions) expected.push_back(std::log(action == 0 ? 0.75f : 0.25f));
  EXPECT_THAT(log_probabilities_.Read(), Pointwise(FloatNear(1e-6f), expected));
}

TEST_F(SampleActionsTest, DrawsAreDecidedBySeedAndCount) {
  const std::vector<int32_t> actions = Draw(0, 0, 1, 0);
  EXPECT_EQ(Draw(0, 0, 1, 0), actions);
  EXPECT_NE(Draw(0, 0, 2, 0), actions);
  EXPECT_NE(Draw(0, 0, 1, kCount), actions);
}

class AdvantagesTest : public PpoKernelsTest {
 protected:
  static constexpr RolloutShape kShape = {.horizon = 6, .environments = 2};
  static constexpr double kDiscount = 0.9;
  static constexpr double kLambda = 0.8;

  void Estimate(const std::vector<EpisodeEnd>& ends) {
    const auto rewards = Device(rewards_);
    const auto values = Device(values_);
    const auto ends_on_device = Device(ends);
    kEstimateAdvantages(stream_.get(), kShape.environments, kShape, static_cast<float>(kDiscount),
                        static_cast<float>(kLambda), rewards.get(), ends_on_device.get(),
                        values.get(), advantages_.get(), returns_.get());
  }

  // The definition: the sum of the discounted surprises from here to the end of the episode.
  std::vector<float> Definition(const std::vector<EpisodeEnd>& ends) const {
    std::vector<float> result;
    for (size_t sample = 0; sample < ends.size(); ++sample) {
      double sum = 0;
      double weight = 1;
      for (size_t at = sample; at < ends.size(); at += kShape.environments) {
        double next = static_cast<double>(values_[at + kShape.environments]);
        if (ends[at] == EpisodeEnd::kTerminated) next = 0;
        if (ends[at] == EpisodeEnd::kTruncated) next = static_cast<double>(values_[at]);
        sum += weight * (static_cast<double>(rewards_[at]) + kDiscount * next -
                         static_cast<double>(values_[at]));
        weight *= kDiscount * kLambda;
        if (ends[at] != EpisodeEnd::kNone) break;
      }
      result.push_back(static_cast<float>(sum));
    }
    return result;
  }

  const std::vector<float> rewards_ = {1, 1, 0.5f, 1, 1, 2, 1, 1, 1, 0, 1, 1};
  const std::vector<float> values_ = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7};
  DeviceValues<float> advantages_ = Room(12);
  DeviceValues<float> returns_ = Room(12);
};

constexpr auto kGoesOn = EpisodeEnd::kNone;

TEST_F(AdvantagesTest, AreTheDiscountedSurprisesOfTheRestOfTheRollout) {
  const std::vector<EpisodeEnd> ends(12, kGoesOn);
  Estimate(ends);
  EXPECT_THAT(advantages_.Read(), Pointwise(FloatNear(1e-5f), Definition(ends)));
}

TEST_F(AdvantagesTest, EndWithTheEpisode) {
  std::vector<EpisodeEnd> ends(12, kGoesOn);
  ends[4] = EpisodeEnd::kTerminated;
  ends[7] = EpisodeEnd::kTruncated;
  ends[11] = EpisodeEnd::kTerminated;
  Estimate(ends);
  EXPECT_THAT(advantages_.Read(), Pointwise(FloatNear(1e-5f), Definition(ends)));
}

TEST_F(AdvantagesTest, ReturnsAreAdvantagesAboveTheValues) {
  const std::vector<EpisodeEnd> ends(12, kGoesOn);
  Estimate(ends);
  std::vector<float> expected = Definition(ends);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += values_[i];
  EXPECT_THAT(returns_.Read(), Pointwise(FloatNear(1e-5f), expected));
}

TEST_F(PpoKernelsTest, NormalizedValuesHaveMeanZeroAndVarianceOne) {
  Random random(3, 0);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(random.Uniform(5, 9)));
  const auto on_device = Device(values);
  const auto moments = Room(2 * kPartialSums);
  kSumMoments(stream_.get(), kPartialSums, values.size(), on_device.get(), moments.get());
  kNormalize(stream_.get(), values.size(), values.size(), moments.get(), on_device.get());
  double sum = 0;
  double squares = 0;
  for (const float value : on_device.Read()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(sum / 1000, 0, 1e-3);
  EXPECT_NEAR(squares / 1000, 1, 1e-3);
}

TEST_F(PpoKernelsTest, EqualValuesNormalizeToZeroAndNotToInfinity) {
  const auto values = Device(std::vector<float>(64, 0.5f));
  const auto moments = Room(2 * kPartialSums);
  kSumMoments(stream_.get(), kPartialSums, 64, values.get(), moments.get());
  kNormalize(stream_.get(), 64, 64, moments.get(), values.get());
  EXPECT_THAT(values.Read(), testing::Each(0.0f));
}

TEST_F(PpoKernelsTest, GatherTakesEachSamplesFourObservations) {
  // Two steps of two environments; the value says step, observation and environment.
  const auto observations = Device(
      std::vector<float>{0, 1, 10, 11, 20, 21, 30, 31, 100, 101, 110, 111, 120, 121, 130, 131});
  const auto minibatch = Device(std::vector<uint32_t>{3, 0});
  const auto gathered = Room(kObservations * 2);
  kGatherObservations(stream_.get(), 2, 2, 2, minibatch.get(), observations.get(), gathered.get());
  EXPECT_THAT(gathered.Read(), ElementsAre(101, 0, 111, 10, 121, 20, 131, 30));
}

class PolicyLossTest : public PpoKernelsTest {
 protected:
  // One sample whose action 0 has probability 1/2 now and had |old_probability|.
  void Compute(float old_probability, float advantage, float entropy_bonus) {
    const auto minibatch = Device(std::vector<uint32_t>{0});
    const auto actions = Device(std::vector<int32_t>{0});
    const auto old = Device(std::vector<float>{std::log(old_probability)});
    const auto advantages = Device(std::vector<float>{advantage});
    const auto logits = Device(std::vector<float>{0, 0});
    kPolicyLoss(stream_.get(), 1, {.clip = 0.2f, .entropy_bonus = entropy_bonus}, 1,
                minibatch.get(), actions.get(), old.get(), advantages.get(), logits.get(),
                losses_.get(), gradients_.get());
    stream_.Synchronize();
  }
  float Loss() { return losses_.Read()[0]; }

  DeviceValues<float> losses_ = Room(1);
  DeviceValues<float> gradients_ = Room(2);
};

TEST_F(PolicyLossTest, RewardsAnActionThatWasBetterThanExpected) {
  Compute(0.5f, 3.0f, 0);
  EXPECT_FLOAT_EQ(Loss(), -3.0f);
  EXPECT_THAT(gradients_.Read(), ElementsAre(FloatNear(-1.5f, 1e-6f), FloatNear(1.5f, 1e-6f)));
}

TEST_F(PolicyLossTest, IsFlatWhereTheProbabilityHasRisenEnough) {
  Compute(0.25f, 3.0f, 0);
  EXPECT_FLOAT_EQ(Loss(), -1.2f * 3.0f);
  EXPECT_THAT(gradients_.Read(), ElementsAre(0, 0));
}

TEST_F(PolicyLossTest, IsFlatWhereTheProbabilityHasFallenEnough) {
  Compute(0.75f, -3.0f, 0);
  EXPECT_FLOAT_EQ(Loss(), 0.8f * 3.0f);
  EXPECT_THAT(gradients_.Read(), ElementsAre(0, 0));
}

TEST_F(PolicyLossTest, StillCorrectsAMoveInTheWrongDirection) {
  Compute(0.25f, -3.0f, 0);
  EXPECT_FLOAT_EQ(Loss(), 2.0f * 3.0f);
  EXPECT_THAT(gradients_.Read(), ElementsAre(FloatNear(3.0f, 1e-5f), FloatNear(-3.0f, 1e-5f)));
}

TEST_F(PolicyLossTest, EntropyLowersTheLoss) {
  Compute(0.5f, 0.0f, 0.1f);
  EXPECT_FLOAT_EQ(Loss(), -0.1f * std::log(2.0f));
}

}  // namespace
}  // namespace gpubound::cartpole
