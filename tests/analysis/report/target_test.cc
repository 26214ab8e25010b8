// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>

#include "analysis/attribution/target_times.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

Target Understood(const std::string& text) {
  const Result<Target> target = ParseTarget(text);
  EXPECT_TRUE(target.ok()) << text;
  return target.ok() ? *target : Target{};
}

std::string MistakeOf(const std::string& text) {
  const Result<Target> target = ParseTarget(text);
  EXPECT_FALSE(target.ok()) << text;
  return target.ok() ? "" : target.error().ToString();
}

TEST(Target, IsAMetricAComparisonAndAValue) {
  const Target target = Understood(" return >= 450 ");
  EXPECT_EQ(target.text, "return >= 450");
  EXPECT_EQ(target.metric, "return");
  EXPECT_TRUE(target.at_least);
  EXPECT_EQ(target.value, 450);
  EXPECT_EQ(target.records, kRecordsOfMean);
}

TEST(Target, MayBeAtMostAndBelowZeroAndOverSomeRecords) {
  const Target target = Understood("eval/return<=-1.5e2 over 100");
  EXPECT_EQ(target.metric, "eval/return");
  EXPECT_FALSE(target.at_least);
  EXPECT_EQ(target.value, -150);
  EXPECT_EQ(target.records, 100u);
}

TEST(Target, AQuotedMetricMayHaveSpacesAndSigns) {
  EXPECT_EQ(Understood("\"my >= return\">=1").metric, "my >= return");
}

TEST(Target, SaysWhatItCannotUnderstand) {
  EXPECT_THAT(MistakeOf(""), HasSubstr("a metric"));
  EXPECT_THAT(MistakeOf("return"), HasSubstr("a metric and a comparison"));
  EXPECT_THAT(MistakeOf("return>450"), HasSubstr(">= or <="));
  EXPECT_THAT(MistakeOf("return==450"), HasSubstr(">= or <="));
  EXPECT_THAT(MistakeOf("return>=lots"), HasSubstr("a number"));
  EXPECT_THAT(MistakeOf("return>=nan"), HasSubstr("a number"));
  EXPECT_THAT(MistakeOf("return>=450 over 0"), HasSubstr("a number of records"));
  EXPECT_THAT(MistakeOf("return>=450 over x"), HasSubstr("a number of records"));
  EXPECT_THAT(MistakeOf("\"return>=450"), HasSubstr("quote"));
}

TEST(RunningMean, IsThatOfTheLastValuesOfAnySeries) {
  std::mt19937 random(7);
  for (size_t length = 1; length <= 40; ++length) {
    RunningMean mean(length);
    std::deque<double> last;
    for (int i = 0; i < 200; ++i) {
      const double value = std::uniform_real_distribution<double>(-1e6, 1e6)(random);
      last.push_back(value);
      if (last.size() > length) last.pop_front();
      const std::optional<double> now = mean.Add(value);
      ASSERT_EQ(now.has_value(), last.size() == length);
      if (!now) continue;
      const double sum = std::accumulate(last.begin(), last.end(), 0.0);
      ASSERT_NEAR(*now, sum / static_cast<double>(length), 1e-6);
    }
  }
}

}  // namespace
}  // namespace gpubound
