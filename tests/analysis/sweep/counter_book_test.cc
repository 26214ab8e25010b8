// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep/counter_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using testing::IsEmpty;
using testing::Optional;

constexpr OperationIndex kA = 0;
constexpr OperationIndex kB = 1;
constexpr auto kSmActive = static_cast<size_t>(CounterQuantity::kSmActive);
constexpr auto kDram = static_cast<size_t>(CounterQuantity::kDramThroughput);

CounterSample Sample(int64_t begin_ns, int64_t end_ns, double sm_active, uint32_t device = 0) {
  CounterSample sample;
  sample.device = device;
  sample.begin_ns = begin_ns;
  sample.end_ns = end_ns;
  sample.percent[kSmActive] = sm_active;
  return sample;
}

TEST(CounterBook, WithoutSamplesSaysNothing) {
  const std::vector<CounterSample> none;
  CounterBook book(none, 0, kA);
  book.SwitchTo(kB, 50);
  EXPECT_THAT(book.Finish(100, 2), IsEmpty());
}

TEST(CounterBook, SplitsASampleAtTheChangeOfOperation) {
  const std::vector<CounterSample> samples = {Sample(0, 100, 40)};
  CounterBook book(samples, 0, kA);
  book.SwitchTo(kB, 30);
  const std::vector<CounterMeans> means = book.Finish(100, 2);
  EXPECT_EQ(means[kA].sampled_ns, 30);
  EXPECT_EQ(means[kB].sampled_ns, 70);
  EXPECT_THAT(means[kA].share[kSmActive], Optional(0.4));
}

TEST(CounterBook, WeighsSamplesByTheTimeThatTheyCover) {
  const std::vector<CounterSample> samples = {Sample(0, 10, 100), Sample(10, 40, 20)};
  CounterBook book(samples, 0, kA);
  EXPECT_THAT(book.Finish(40, 1)[kA].share[kSmActive], Optional(0.4));
}

TEST(CounterBook, ComesBackToAnOperation) {
  const std::vector<CounterSample> samples = {Sample(0, 20, 100), Sample(20, 30, 0),
                                              Sample(30, 40, 50)};
  CounterBook book(samples, 0, kA);
  book.SwitchTo(kB, 20);
  book.SwitchTo(kA, 30);
  const std::vector<CounterMeans> means = book.Finish(40, 2);
  EXPECT_EQ(means[kA].sampled_ns, 30);
  EXPECT_THAT(means[kB].share[kSmActive], Optional(0.0));
  EXPECT_THAT(means[kA].share[kSmActive], Optional(testing::DoubleEq(250.0 / 3 / 100)));
}

TEST(CounterBook, TimeBetweenSamplesIsNotSampled) {
  const std::vector<CounterSample> samples = {Sample(0, 10, 100), Sample(90, 100, 100)};
  CounterBook book(samples, 0, kA);
  EXPECT_EQ(book.Finish(100, 1)[kA].sampled_ns, 20);
}

TEST(CounterBook, WhatLiesOutsideTheSpanDoesNotCount) {
  const std::vector<CounterSample> samples = {Sample(0, 20, 100), Sample(20, 200, 50)};
  CounterBook book(samples, 10, kA);
  EXPECT_EQ(book.Finish(100, 1)[kA].sampled_ns, 90);
}

TEST(CounterBook, DevicesCountEach) {
  const std::vector<CounterSample> samples = {Sample(0, 100, 80), Sample(0, 50, 20, 1),
                                              Sample(50, 100, 20, 1)};
  CounterBook book(samples, 0, kA);
  const std::vector<CounterMeans> means = book.Finish(100, 1);
  EXPECT_EQ(means[kA].sampled_ns, 200);
  EXPECT_THAT(means[kA].share[kSmActive], Optional(0.5));
}

TEST(CounterBook, WhatNoSampleTellsIsAbsent) {
  const std::vector<CounterSample> samples = {Sample(0, 100, 80)};
  CounterBook book(samples, 0, kA);
  EXPECT_EQ(book.Finish(100, 1)[kA].share[kDram], std::nullopt);
}

}  // namespace
}  // namespace gpubound
