// SPDX-License-Identifier: Apache-2.0
//
// Which events are counted, as what, and what they come to.
#include "analysis/overhead_sum.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

constexpr LabelId kTrain{1};
constexpr LabelId kWrapped{2};
constexpr LabelId kNvtx{3};
constexpr LabelId kLaunch{4};

class OverheadSum : public testing::Test {
 protected:
  OverheadSum() {
    process_.main_tid = 100;
    process_.labels = {{},
                       {LabelKind::kOperation, Layer::kUnset, "", "train"},
                       {LabelKind::kLayer, Layer::kBackend, "", "torch.mm"},
                       {LabelKind::kAnnotation, Layer::kUnset, "nccl", "reduce"},
                       {LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"}};
    for (const uint32_t tid : {100u, 101u}) {
      process_.threads.emplace_back();
      process_.threads.back().tid = tid;
    }
  }
  void Scope(size_t thread, LabelId label, int64_t at) {
    process_.threads[thread].events.push_back({at, 0, label, SlotKind::kBegin});
    process_.threads[thread].events.push_back({at + 1, 0, label, SlotKind::kEnd});
  }
  uint64_t CountOf(CostKind kind) {
    const RecordedCounts counts = CountReportingThread(process_);
    const auto found = counts.kinds.find(kind);
    return found == counts.kinds.end() ? 0 : found->second;
  }

  ProcessTrace process_;
};

TEST_F(OverheadSum, CountsAScopeOnce) {
  Scope(0, kTrain, 10);
  Scope(0, kWrapped, 20);
  EXPECT_EQ(CountOf(CostKind::kNativeScope), 2u);
}

TEST_F(OverheadSum, TellsPythonScopesFromWrappedCallsAndForeignRanges) {
  process_.python = true;
  Scope(0, kTrain, 10);
  Scope(0, kWrapped, 20);
  Scope(0, kNvtx, 30);
  EXPECT_EQ(CountOf(CostKind::kPythonScope), 1u);
  EXPECT_EQ(CountOf(CostKind::kInterceptedCall), 1u);
  EXPECT_EQ(CountOf(CostKind::kNativeScope), 1u);
}

TEST_F(OverheadSum, CountsStepsAndPhasesAsInstants) {
  process_.threads[0].events.push_back({5, 1, LabelId{}, SlotKind::kStep});
  process_.threads[0].events.push_back({6, 0, kTrain, SlotKind::kPhase});
  EXPECT_EQ(CountOf(CostKind::kInstant), 2u);
}

TEST_F(OverheadSum, IsAboutTheThreadThatOpenedTheFirstOperation) {
  Scope(0, kTrain, 50);
  Scope(1, kTrain, 10);
  Scope(1, kTrain, 20);
  EXPECT_EQ(CountOf(CostKind::kNativeScope), 2u);
}

TEST_F(OverheadSum, IsAboutTheMainThreadWhereNoneDid) {
  Scope(0, kNvtx, 50);
  Scope(1, kNvtx, 10);
  Scope(1, kNvtx, 20);
  EXPECT_EQ(CountOf(CostKind::kNativeScope), 1u);
}

TEST_F(OverheadSum, CountsApiCallsByFunction) {
  process_.threads[0].calls = {{1, 2, 1, kLaunch, 0}, {3, 4, 2, kLaunch, 0}};
  EXPECT_EQ(CountReportingThread(process_).api_calls.at("cudaLaunchKernel"), 2u);
}

TEST_F(OverheadSum, OfAProcessWithoutThreadsIsNothing) {
  process_.threads.clear();
  EXPECT_EQ(SumOfCosts(CountReportingThread(process_), CostModel()).total_ns(), 0);
}

TEST_F(OverheadSum, AddsErrorsOfMeansAndVariancesOfOccurrences) {
  CostModel model;
  model.Of(CostKind::kNativeScope) = {10, 5, 4, 0.5, 100};
  model.api["cudaLaunchKernel"] = {300, 200, 900, 2, 100};
  const Cost sum = SumOfCosts({{{CostKind::kNativeScope, 10}}, {{"cudaLaunchKernel", 2}}}, model);
  EXPECT_DOUBLE_EQ(sum.inside_ns, 700);
  EXPECT_DOUBLE_EQ(sum.outside_ns, 450);
  EXPECT_DOUBLE_EQ(sum.standard_error_ns, 9);
  EXPECT_DOUBLE_EQ(sum.variance_ns2, 1840);
}

}  // namespace
}  // namespace gpubound
