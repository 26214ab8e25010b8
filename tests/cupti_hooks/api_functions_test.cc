// SPDX-License-Identifier: Apache-2.0
//
// Which API functions get no record.
#include "cupti_hooks/api_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;

TEST(QuietApisTest, QueriesAreQuiet) {
  for (const char* name : {"cudaGetDevice", "cudaGetLastError", "cudaPeekAtLastError",
                           "cudaEventQuery", "cudaStreamQuery", "cuCtxGetCurrent"}) {
    EXPECT_TRUE(QuietApis().Contains(name)) << name;
  }
}

TEST(QuietApisTest, WhatStartsWorkWaitsOrCanTakeLongIsNot) {
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpy", "cudaStreamSynchronize", "cudaMalloc",
                           "cudaFree", "cudaSetDevice", "cudaFuncGetAttributes", "cuLaunchKernel",
                           "cuModuleLoadData", "cudaGraphLaunch", "cudaEventRecord", ""}) {
    EXPECT_FALSE(QuietApis().Contains(name)) << name;
  }
}

TEST(QuietApisTest, TheUserAddsFunctionsAndTakesSomeOff) {
  const QuietApis quiet("cudaEventRecord, -cudaStreamQuery ,,cuMemAlloc");
  EXPECT_TRUE(quiet.Contains("cudaEventRecord"));
  EXPECT_TRUE(quiet.Contains("cuMemAlloc"));
  EXPECT_TRUE(quiet.Contains("cudaGetDevice")) << "the built-in list stays";
  EXPECT_FALSE(quiet.Contains("cudaStreamQuery"));
  EXPECT_FALSE(quiet.Contains(""));
}

TEST(ApiFunctionsTest, QuietFunctionsAreFoundByTheNamesOfTheLoadedLibrary) {
  ScriptedCupti cupti(kCupti13_0);
  cupti.runtime_names = {{17, "cudaGetDevice_v3020"},
                         {211, "cudaLaunchKernel_v7000"},
                         {300, "cudaStreamQuery_ptsz_v7000"}};
  const CuptiApi api = cupti.api();
  const ApiFunctions functions(api, nullptr, QuietApis());
  EXPECT_THAT(functions.QuietIds(CUPTI_CB_DOMAIN_RUNTIME_API), ElementsAre(17, 300));
  EXPECT_THAT(functions.QuietIds(CUPTI_CB_DOMAIN_DRIVER_API), ElementsAre(304));
  EXPECT_TRUE(functions.IsQuiet(CUPTI_CB_DOMAIN_RUNTIME_API, 17));
  EXPECT_FALSE(functions.IsQuiet(CUPTI_CB_DOMAIN_RUNTIME_API, 1 << 20));
}

TEST(ApiFunctionsTest, EveryFormOfAKernelLaunchIsALaunch) {
  ScriptedCupti cupti(kCupti13_0);
  cupti.runtime_names = {{211, "cudaLaunchKernel_v7000"},
                         {214, "cudaLaunchKernel_ptsz_v7000"},
                         {311, "cudaGraphLaunch_v10000"}};
  cupti.driver_names = {{307, "cuLaunchKernel"}, {652, "cuLaunchKernelEx"}, {1, "cuInit"}};
  const CuptiApi api = cupti.api();
  const ApiFunctions functions(api, nullptr, QuietApis());
  EXPECT_THAT(functions.LaunchIds(CUPTI_CB_DOMAIN_RUNTIME_API), ElementsAre(211, 214));
  EXPECT_THAT(functions.LaunchIds(CUPTI_CB_DOMAIN_DRIVER_API), ElementsAre(307, 652));
}

}  // namespace
}  // namespace gpubound
