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

TEST(ApiFunctionsTest, QueriesAreNoisy) {
  for (const char* name : {"cudaGetDevice", "cudaGetLastError", "cudaPeekAtLastError",
                           "cudaEventQuery", "cudaStreamQuery", "cuCtxGetCurrent"}) {
    EXPECT_TRUE(IsNoisyApi(name)) << name;
  }
}

TEST(ApiFunctionsTest, WhatStartsWorkWaitsOrCanTakeLongIsNot) {
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpy", "cudaStreamSynchronize", "cudaMalloc",
                           "cudaFree", "cudaSetDevice", "cudaFuncGetAttributes", "cuLaunchKernel",
                           "cuModuleLoadData", "cudaGraphLaunch", "cudaEventRecord", ""}) {
    EXPECT_FALSE(IsNoisyApi(name)) << name;
  }
}

TEST(ApiFunctionsTest, NoisyFunctionsAreFoundByTheNamesOfTheLoadedLibrary) {
  ScriptedCupti cupti(kCupti13_0);
  cupti.runtime_names = {{17, "cudaGetDevice_v3020"},
                         {211, "cudaLaunchKernel_v7000"},
                         {300, "cudaStreamQuery_ptsz_v7000"}};
  const CuptiApi api = cupti.api();
  const ApiFunctions functions(api, nullptr);
  EXPECT_THAT(functions.NoisyIds(CUPTI_CB_DOMAIN_RUNTIME_API), ElementsAre(17, 300));
  EXPECT_THAT(functions.NoisyIds(CUPTI_CB_DOMAIN_DRIVER_API), ElementsAre(304));
  EXPECT_TRUE(functions.IsNoisy(CUPTI_CB_DOMAIN_RUNTIME_API, 17));
  EXPECT_FALSE(functions.IsNoisy(CUPTI_CB_DOMAIN_RUNTIME_API, 1 << 20));
}

}  // namespace
}  // namespace gpubound
