// SPDX-License-Identifier: Apache-2.0
//
// Which API functions get no record.
#include "cupti_hooks/cupti/api_functions.h"

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

// By callbacks its wait is told by what is known of the function, not by a record.
TEST(ApiFunctionsTest, EveryFunctionThatWaitsIsKnownWithWhatItWaitsFor) {
  ScriptedCupti cupti(kCupti13_0);
  cupti.runtime_names = {{10, "cudaThreadSynchronize_v3020"},
                         {131, "cudaStreamSynchronize_v3020"},
                         {139, "cudaEventSynchronize_v3020"},
                         {165, "cudaDeviceSynchronize_v3020"}};
  cupti.driver_names = {{29, "cuCtxSynchronize"}, {800, "cuCtxSynchronize_v2"}};
  const CuptiApi api = cupti.api();
  const ApiFunctions functions(api, nullptr, QuietApis());
  const auto runtime = [&](uint32_t id) {
    return functions.AwaitedBy(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  };
  EXPECT_EQ(runtime(10), Awaited::kContext);
  EXPECT_EQ(runtime(131), Awaited::kStream);
  EXPECT_EQ(runtime(139), Awaited::kEvent);
  EXPECT_EQ(runtime(165), Awaited::kContext);
  EXPECT_EQ(functions.AwaitedBy(CUPTI_CB_DOMAIN_DRIVER_API, 29), Awaited::kContext);
  EXPECT_EQ(functions.AwaitedBy(CUPTI_CB_DOMAIN_DRIVER_API, 800), Awaited::kContext);
}

}  // namespace
}  // namespace gpubound
