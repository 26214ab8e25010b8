// SPDX-License-Identifier: Apache-2.0
//
// What the time that CUPTI takes to enter calls does to what calls are taken to cost.
#include "analysis/correction/entry_costs.h"
#include "analysis/calibration/cost_model.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

Cost OfCall(double ns, double entry_ns) {
  return {.outside_ns = ns, .standard_error_ns = ns / 10, .samples = 80, .entry_ns = entry_ns};
}

CostModel Calibrated() {
  CostModel costs;
  costs.api = {{"cudaLaunchKernel", OfCall(2'000, 200)}, {"cudaMemcpyAsync", OfCall(1'000, 100)}};
  costs.api_after_other_work = {{"cudaLaunchKernel", OfCall(3'000, 450)},
                                {"cudaMemcpyAsync", OfCall(1'500, 225)}};
  costs.Of(CostKind::kApiCall) = OfCall(1'500, 0);
  costs.AfterOtherWork(CostKind::kApiCall) = OfCall(2'250, 0);
  return costs;
}

ProcessTrace With(std::vector<CallEntries> entries) {
  ProcessTrace process;
  process.call_entries = std::move(entries);
  return process;
}

TEST(FitToEntriesTest, CallsCostMoreWhereCuptiTakesLonger) {
  CostModel costs = Calibrated();
  const EntryCheck check = FitToEntries(With({{"cudaLaunchKernel", {100, 800}, {300, 450}},
                                              {"cudaMemcpyAsync", {50, 100}, {50, 900}}}),
                                        &costs);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernel").total_ns(), 8'000, 1e-6);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernel").standard_error_ns, 800, 1e-6);
  EXPECT_NEAR(costs.OfApi("cudaMemcpyAsync").total_ns(), 1'000, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaLaunchKernel").total_ns(), 3'000, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaMemcpyAsync").total_ns(), 6'000, 1e-6);
  EXPECT_TRUE(costs.knows_calls_behind_work);
  EXPECT_EQ(check.calls, 500u);
  EXPECT_NEAR(check.factor, (100 * 4.0 + 300 * 1.0 + 50 * 1.0 + 50 * 4.0) / 500, 1e-9);
}

TEST(FitToEntriesTest, FunctionsThatTellNothingAreTakenToBeLikeTheOthers) {
  CostModel costs = Calibrated();
  FitToEntries(With({{"cudaLaunchKernel", {100, 800}, {}},
                     {"cudaMemcpyAsync", {kFewestEntries - 1, 100}, {}},
                     {"cudaGraphLaunch", {100, 100}, {}}}),
               &costs);
  EXPECT_NEAR(costs.OfApi("cudaMemcpyAsync").total_ns(), 4'000, 1e-6) << "too few of it were timed";
  EXPECT_NEAR(costs.OfApi("cudaGraphLaunch").total_ns(), 6'000, 1e-6) << "it was not calibrated";
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaLaunchKernel").total_ns(), 3'000, 1e-6)
      << "nothing was timed there";
  EXPECT_FALSE(costs.knows_calls_behind_work);
}

TEST(FitToEntriesTest, WhatWasNotCalibratedCostsWhatDoesTheSameDoes) {
  CostModel costs = Calibrated();
  FitToEntries(With({{"cudaLaunchKernel", {100, 400}, {100, 450}},
                     {"cudaLaunchKernelExC", {kFewestEntries, 600}, {kFewestEntries, 900}},
                     {"cudaMemcpyAsync", {50, 100}, {50, 450}}}),
               &costs);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernelExC").total_ns(), 6'000, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaLaunchKernelExC").total_ns(), 6'000, 1e-6);
  EXPECT_NEAR(costs.OfApi("cuLaunchKernel").total_ns(), 4'000, 1e-6)
      << "it was not timed here either";
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaMemcpy2DAsync").total_ns(), 3'000, 1e-6);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernel").total_ns(), 4'000, 1e-6);
}

TEST(CostModelTest, OfCallsThatWereNotMeasuredIsThatOfTheirLike) {
  const CostModel costs = Calibrated();
  EXPECT_EQ(costs.OfApi("cudaLaunchKernel_ptsz").total_ns(), 2'000);
  EXPECT_EQ(costs.OfApi("cudaMemcpy").total_ns(), 1'000);
  EXPECT_EQ(costs.OfApi("cudaStreamSynchronize").total_ns(), 1'500) << "nothing like it was";
  EXPECT_EQ(costs.OfApi("cudaGraphLaunch").total_ns(), 1'500);
  EXPECT_EQ(costs.OfApi("").total_ns(), 1'500);
}

TEST(SimilarCallTest, NamesAFunctionThatCalibrationMeasures) {
  EXPECT_EQ(SimilarCall("cudaLaunchKernelExC"), "cudaLaunchKernel");
  EXPECT_EQ(SimilarCall("cuMemcpyHtoDAsync"), "cudaMemcpyAsync");
  EXPECT_EQ(SimilarCall("cuMemsetD32Async"), "cudaMemsetAsync");
  EXPECT_EQ(SimilarCall("cudaEventRecordWithFlags"), "cudaEventRecord");
  EXPECT_EQ(SimilarCall("cuStreamWaitEvent"), "cudaStreamWaitEvent");
  EXPECT_EQ(SimilarCall("cudaDeviceSynchronize"), "cudaStreamSynchronize");
  EXPECT_EQ(SimilarCall("cudaGraphLaunch"), "");
  EXPECT_EQ(SimilarCall("cudaMalloc"), "");
  EXPECT_EQ(SimilarCall(""), "");
}

TEST(FitToEntriesTest, ACalibrationWithoutOtherWorkTellsOfCallsBehindItByTheUsual) {
  CostModel costs = Calibrated();
  costs.api_after_other_work.clear();
  FitToEntries(With({{"cudaLaunchKernel", {100, 200}, {100, 500}}}), &costs);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernel").total_ns(), 2'000, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaLaunchKernel").total_ns(), 5'000, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaGraphLaunch").total_ns(), 3'750, 1e-6);
  EXPECT_TRUE(costs.knows_calls_behind_work);
}

TEST(FitToEntriesTest, WhereOneSideIsSilentNothingChanges) {
  CostModel costs = Calibrated();
  EXPECT_EQ(FitToEntries(With({}), &costs).calls, 0u);
  EXPECT_EQ(FitToEntries(With({{"cudaLaunchKernel", {100, 0}, {100, 0}}}), &costs).calls, 0u);
  for (auto* const functions : {&costs.api, &costs.api_after_other_work}) {
    for (auto& [name, cost] : *functions) cost.entry_ns = 0;
  }
  EXPECT_EQ(FitToEntries(With({{"cudaLaunchKernel", {100, 800}, {100, 800}}}), &costs).calls, 0u);
  EXPECT_EQ(costs.OfApi("cudaLaunchKernel").total_ns(), 2'000);
  EXPECT_FALSE(costs.knows_calls_behind_work);
}

TEST(FitToEntriesTest, NoFactorIsBeyondBelief) {
  CostModel costs = Calibrated();
  for (auto& [name, cost] : costs.api_after_other_work) cost.entry_ns = cost.total_ns() / 10;
  FitToEntries(With({{"cudaLaunchKernel", {100, 1e9}, {100, 1e-3}}}), &costs);
  EXPECT_NEAR(costs.OfApi("cudaLaunchKernel").total_ns(), 2'000 * kLargestEntryFactor, 1e-6);
  EXPECT_NEAR(costs.OfApiAfterOtherWork("cudaLaunchKernel").total_ns(), 3'000 / kLargestEntryFactor,
              1e-6);
}

}  // namespace
}  // namespace gpubound
