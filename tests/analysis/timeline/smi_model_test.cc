// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/smi_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

constexpr int64_t kW = kSmiWindowNs;

double Share(const std::vector<Interval>& kernels, const Interval& span) {
  SmiModel model(span);
  for (const Interval& kernel : kernels) model.Add(kernel);
  return model.Share();
}

TEST(SmiModelTest, OneTinyKernelInEachWindowReadsAsFullyBusy) {
  EXPECT_DOUBLE_EQ(Share({{10, 11}, {kW + 5, kW + 6}}, {0, 2 * kW}), 1.0);
}

TEST(SmiModelTest, WindowsWithoutKernelsCountAsIdle) {
  EXPECT_DOUBLE_EQ(Share({{kW + 5, kW + 6}}, {0, 4 * kW}), 0.25);
}

TEST(SmiModelTest, AKernelTouchesEveryWindowItCrosses) {
  EXPECT_DOUBLE_EQ(Share({{kW - 1, 2 * kW + 1}}, {0, 4 * kW}), 0.75);
}

TEST(SmiModelTest, EndsAreExclusive) {
  EXPECT_DOUBLE_EQ(Share({{0, kW}}, {0, 2 * kW}), 0.5);
  EXPECT_DOUBLE_EQ(Share({{kW, kW + 1}}, {0, 2 * kW}), 0.5);
}

TEST(SmiModelTest, TheLastWindowCountsByItsLength) {
  EXPECT_DOUBLE_EQ(Share({{kW, kW + 1}}, {0, kW + kW / 2}),
                   static_cast<double>(kW / 2) / static_cast<double>(kW + kW / 2));
}

TEST(SmiModelTest, WindowsBeginWithTheSpan) {
  EXPECT_DOUBLE_EQ(Share({{kW - 10, kW + 10}}, {kW - 10, 3 * kW - 10}), 0.5);
}

TEST(SmiModelTest, OverlappingKernelsTouchAWindowOnce) {
  EXPECT_DOUBLE_EQ(Share({{0, 3 * kW}, {10, 20}, {kW, 2 * kW}}, {0, 4 * kW}), 0.75);
}

TEST(SmiModelTest, AWindowThatTwoPartsTouchCountsOnce) {
  const Interval span{5, 5 + 4 * kW};
  const std::vector<Interval> kernels = {
      {10, 20}, {30, kW + 40}, {kW + 50, kW + 60}, {3 * kW + 20, 3 * kW + 30}};
  for (size_t cut = 0; cut <= kernels.size(); ++cut) {
    SmiModel model(span);
    SmiModel later(span);
    for (size_t i = 0; i < kernels.size(); ++i) (i < cut ? model : later).Add(kernels[i]);
    model.Append(later);
    EXPECT_DOUBLE_EQ(model.Share(), 0.75) << cut;
  }
}

TEST(SmiModelTest, AtMostThereWasAKernelInEveryWindowThatUnknownTimeTouches) {
  SmiModel model({0, 10 * kW});
  model.Add({5, 6});
  model.AddUnknown({kW - 1, kW + 1});
  model.AddUnknown({4 * kW, 4 * kW + 1});
  model.Add({4 * kW + 1, 5 * kW + 1});
  model.AddUnknown({6 * kW, 6 * kW + 1});
  model.AddUnknown({6 * kW + 1, 6 * kW + 2});
  EXPECT_DOUBLE_EQ(model.Share(), 0.3);
  EXPECT_DOUBLE_EQ(model.MostShare(), 0.5);
}

TEST(SmiModelTest, OfWhatAProcessDoesCopiesAreNoKernelsAndMayHideOne) {
  constexpr GpuMix kCopies = 1u << kCopy;
  GpuWindow window;
  GpuSegment next;
  for (const GpuMix mix : {GpuMix{kGpuIdle}, kCopies, kCopies | kUnrecordedBit, GpuMix{1u << kComm},
                           kUnrecordedBit, kUnrecordedBit}) {
    next.mix = mix;
    window.all.push_back(next);
    next.begin_ns += kW;
  }
  next.begin_ns = INT64_MAX;
  window.all.push_back(next);
  SmiModel model({0, 10 * kW});
  model.Add(window, 6 * kW);
  EXPECT_DOUBLE_EQ(model.Share(), 0.1);
  EXPECT_DOUBLE_EQ(model.MostShare(), 0.4);
}

TEST(SmiModelTest, NothingIsNothing) {
  EXPECT_DOUBLE_EQ(Share({}, {0, kW}), 0);
  EXPECT_DOUBLE_EQ(Share({{5, 5}}, {0, kW}), 0);
  EXPECT_DOUBLE_EQ(Share({{0, 10}}, {5, 5}), 0);
}

}  // namespace
}  // namespace gpubound
