// SPDX-License-Identifier: Apache-2.0
//
// On virtual time: calls come at a rate that the test says, whoever counts them.
#include "cupti_hooks/query_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace gpubound {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(PeriodSum, TheErrorIsThatOfARatio) {
  PeriodSum sum;
  sum.Add(100, 1);
  sum.Add(100, 3);
  EXPECT_EQ(sum.Rate(), 2);
  // 100 calls too few, 100 too many: sqrt(20000 * 2 / 1), and twice that of twice the time.
  EXPECT_DOUBLE_EQ(*sum.StandardError(200), 200);
  EXPECT_DOUBLE_EQ(*sum.StandardError(400), 400);
}

TEST(PeriodSum, PeriodsWeighAsMuchAsTheyLast) {
  PeriodSum sum;
  sum.Add(100, 4);
  sum.Add(300, 0);
  EXPECT_EQ(sum.Rate(), 1);
}

TEST(PeriodSum, EqualRatesLeaveNoError) {
  PeriodSum sum;
  for (const double ns : {100.0, 200.0, 400.0}) sum.Add(ns, 0.5);
  EXPECT_NEAR(*sum.StandardError(700), 0, 1e-6);
}

TEST(PeriodSum, OfOnePeriodNoErrorIsKnown) {
  PeriodSum sum;
  EXPECT_EQ(sum.StandardError(100), std::nullopt);
  sum.Add(100, 4);
  EXPECT_EQ(sum.StandardError(100), std::nullopt);
}

class QuerySamplerTest : public testing::Test {
 protected:
  using Rate = std::function<double(int64_t)>;  // calls each nanosecond, at a time

  QuerySampler Sampler(double share = 0.01) {
    QuerySampler::World world;
    world.now_ns = [this] { return now_ns_; };
    world.wait_until = [this](int64_t until_ns) {
      waits_.push_back(until_ns - now_ns_);
      Pass(std::min(until_ns, end_ns_));
    };
    world.switch_callbacks = [this](bool on) {
      if (!can_switch_) return false;
      EXPECT_NE(on, on_);
      on_ = on;
      Pass(now_ns_ + switching_ns_);
      return true;
    };
    world.take = [this] { return std::exchange(counted_, 0); };
    world.count = [this](uint64_t calls) { said_ += calls; };
    world.random = [this] { return std::uniform_real_distribution<double>()(random_); };
    return QuerySampler(std::move(world), share);
  }
  void RunNext(QuerySampler* sampler) {
    Pass(sampler->next_ns());
    sampler->RunWindow();
    Pass(now_ns_ + held_up_ns_);
  }
  // Until |end_ns|, as the thread that has it does.
  std::optional<double> RunUntil(int64_t end_ns, QuerySampler* sampler) {
    end_ns_ = end_ns;
    while (sampler->next_ns() < end_ns) RunNext(sampler);
    Pass(end_ns);
    EXPECT_FALSE(on_);
    return sampler->Finish();
  }

  Rate rate_ = [](int64_t) { return 0.001; };
  int64_t switching_ns_ = 0;
  int64_t held_up_ns_ = 0;
  bool can_switch_ = true;
  std::minstd_rand random_{1};
  int64_t now_ns_ = 5 * kSecondNs;  // clocks do not begin at 0
  uint64_t said_ = 0;
  bool on_ = false;
  std::vector<int64_t> waits_;

 private:
  void Pass(int64_t until_ns) {
    constexpr int64_t kStepNs = 10'000;
    while (now_ns_ < until_ns) {
      const int64_t ns = std::min(kStepNs, until_ns - now_ns_);
      if (on_) rest_ += rate_(now_ns_) * static_cast<double>(ns);
      counted_ += static_cast<uint64_t>(rest_);
      rest_ -= std::floor(rest_);
      now_ns_ += ns;
    }
  }
  int64_t end_ns_ = INT64_MAX;
  uint64_t counted_ = 0;
  double rest_ = 0;
};

TEST_F(QuerySamplerTest, CallsAtASteadyRateAreAllThere) {
  QuerySampler sampler = Sampler();
  const std::optional<double> error = RunUntil(now_ns_ + 10 * kSecondNs, &sampler);
  EXPECT_NEAR(static_cast<double>(said_), 10e6, 10e6 * 0.005);
  ASSERT_TRUE(error);
  EXPECT_LT(*error, 10e6 * 0.01);
}

TEST_F(QuerySamplerTest, SwitchingTakesTimeThatIsNotCounted) {
  switching_ns_ = 500'000;
  QuerySampler sampler = Sampler();
  RunUntil(now_ns_ + 10 * kSecondNs, &sampler);
  EXPECT_NEAR(static_cast<double>(said_), 10e6, 10e6 * 0.005);
}

TEST_F(QuerySamplerTest, AThreadThatIsHeldUpCountsWhatItMissed) {
  held_up_ns_ = kSecondNs / 2;
  QuerySampler sampler = Sampler();
  RunUntil(now_ns_ + 10 * kSecondNs, &sampler);
  EXPECT_NEAR(static_cast<double>(said_), 10e6, 10e6 * 0.05);
}

// Half a second with calls, half a second without, in step with the longest periods.
TEST_F(QuerySamplerTest, ALoopInStepWithThePeriodsIsMetInEachPhase) {
  rate_ = [](int64_t now_ns) {
    return now_ns % QuerySampler::kLongestPeriodNs < QuerySampler::kLongestPeriodNs / 2 ? 0.002 : 0;
  };
  int within = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    random_.seed(seed);
    said_ = 0;
    QuerySampler sampler = Sampler();
    const std::optional<double> error = RunUntil(now_ns_ + 20 * kSecondNs, &sampler);
    ASSERT_TRUE(error);
    within += std::abs(static_cast<double>(said_) - 20e6) <= 1.96 * *error ? 1 : 0;
  }
  EXPECT_GE(within, 34) << "95 % of 40 are 38";
}

TEST_F(QuerySamplerTest, AHundredthOfTheTimeIsCounted) {
  QuerySampler sampler = Sampler();
  RunUntil(now_ns_ + 10 * kSecondNs, &sampler);
  int64_t waited_ns = 0;
  for (const int64_t ns : waits_) waited_ns += ns;
  EXPECT_NEAR(static_cast<double>(waited_ns), 0.01 * 10e9, 0.001 * 10e9);
}

TEST_F(QuerySamplerTest, BriefRecordingsHaveWindowsToo) {
  QuerySampler sampler = Sampler();
  RunUntil(now_ns_ + kSecondNs / 10, &sampler);
  EXPECT_GE(waits_.size(), 2u);
  EXPECT_NEAR(static_cast<double>(said_), 1e5, 5e3);
}

TEST_F(QuerySamplerTest, WithoutAWindowNothingIsKnown) {
  QuerySampler sampler = Sampler();
  EXPECT_EQ(RunUntil(sampler.next_ns(), &sampler), std::nullopt);
  EXPECT_FALSE(sampler.has_counted());
  EXPECT_EQ(said_, 0u);
}

TEST_F(QuerySamplerTest, NothingIsKnownOfCallsThatCannotBeListenedTo) {
  can_switch_ = false;
  QuerySampler sampler = Sampler();
  EXPECT_EQ(RunUntil(now_ns_ + kSecondNs, &sampler), std::nullopt);
  EXPECT_FALSE(sampler.has_counted());
  EXPECT_EQ(said_, 0u);
}

TEST_F(QuerySamplerTest, TimeWithoutAWindowIsCountedAsTheNextOneSays) {
  QuerySampler sampler = Sampler();
  const int64_t begun_ns = now_ns_;
  can_switch_ = false;
  while (now_ns_ < begun_ns + kSecondNs) RunNext(&sampler);
  can_switch_ = true;
  RunUntil(begun_ns + 2 * kSecondNs, &sampler);
  EXPECT_NEAR(static_cast<double>(said_), 2e6, 2e6 * 0.005);
}

TEST_F(QuerySamplerTest, ARecordingThatEndsInAWindowCountsItsPart) {
  QuerySampler sampler = Sampler();
  const int64_t begun_ns = now_ns_;
  RunUntil(sampler.next_ns() + 50'000, &sampler);
  EXPECT_TRUE(sampler.has_counted());
  EXPECT_NEAR(static_cast<double>(said_), 0.001 * static_cast<double>(now_ns_ - begun_ns), 100);
}

}  // namespace
}  // namespace gpubound
