// SPDX-License-Identifier: Apache-2.0
#include "proto/sync_calls.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

void ExpectClass(ApiClass expected, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) EXPECT_EQ(ClassifyApi(name), expected) << name;
}

TEST(SyncCalls, AreTheSynchroniseCallsOfTheRuntime) {
  ExpectClass(ApiClass::kSync, {"cudaStreamSynchronize", "cudaDeviceSynchronize",
                                "cudaEventSynchronize", "cudaThreadSynchronize"});
}

TEST(SyncCalls, AreTheSynchroniseCallsOfTheDriver) {
  ExpectClass(ApiClass::kSync, {"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"});
}

TEST(SyncCalls, AreTheSynchroniseCallsOfHip) {
  ExpectClass(ApiClass::kSync, {"hipStreamSynchronize", "hipDeviceSynchronize",
                                "hipEventSynchronize", "hipCtxSynchronize"});
}

TEST(SyncCalls, AreCopiesWithoutAsync) {
  ExpectClass(ApiClass::kSync,
              {"cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3DPeer", "cudaMemcpyToSymbol",
               "cudaMemcpyPeer", "cuMemcpyHtoD_v2", "cuMemcpyDtoH", "cuMemcpy3D_v2", "cuMemcpy",
               "hipMemcpy", "hipMemcpyDtoH", "hipMemcpyWithStream"});
}

TEST(SyncCalls, AreAsyncCopiesOnlyWhileTheirOwnCopyRuns) {
  ExpectClass(ApiClass::kAsyncCopy,
              {"cudaMemcpyAsync", "cudaMemcpy2DAsync", "cudaMemcpy3DBatchAsync",
               "cudaMemcpyFromSymbolAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyAsync_ptsz",
               "cuMemcpyBatchAsync", "hipMemcpyAsync", "hipMemcpyDtoHAsync"});
}

TEST(SyncCalls, AreNothingElse) {
  ExpectClass(ApiClass::kCall,
              {"cudaLaunchKernel", "cuLaunchKernelEx", "cudaMalloc", "cudaFree", "cuMemFree_v2",
               "cudaMemset", "cudaMemsetAsync", "cuMemsetD8_v2", "cudaStreamWaitEvent",
               "cudaEventQuery", "cudaGraphLaunch", "cudaGraphAddMemcpyNode",
               "cudaMemPrefetchAsync", "cudaEventRecord", "hipLaunchKernel", "hipFree"});
}

TEST(SyncCalls, AreNotNamesThatOnlyLookLikeThem) {
  ExpectClass(ApiClass::kCall,
              {"", "cu", "cuda", "StreamSynchronize", "Memcpy", "MemcpyAsync", "_v2", "myMemcpy",
               "cudaStreamSynchronizeX", "xcudaMemcpy", "CudaMemcpy"});
}

TEST(SyncCalls, AreKnownByTheirVersionedNames) {
  ExpectClass(ApiClass::kSync, {"cudaStreamSynchronize_v3020", "cudaStreamSynchronize_ptsz_v7000",
                                "cudaMemcpy_ptds_v7000", "cuMemcpyHtoD_v2_ptds"});
  ExpectClass(ApiClass::kAsyncCopy, {"cudaMemcpyAsync_v3020", "cudaMemcpyAsync_ptsz_v7000"});
}

TEST(ApiVersion, IsStrippedFromNamesThatHaveOne) {
  EXPECT_EQ(StripApiVersion("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(StripApiVersion("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(StripApiVersion("cuMemcpyHtoD_v2"), "cuMemcpyHtoD");
  EXPECT_EQ(StripApiVersion("cuMemcpyHtoD_v2_ptds"), "cuMemcpyHtoD");
}

TEST(ApiVersion, IsNotFoundWhereThereIsNone) {
  for (std::string_view name : {"", "cudaMalloc", "_v", "_v2", "_ptsz", "cuMemsetD2D32", "a_v",
                                "cudaMemcpy2D", "a_vx1", "v2"}) {
    EXPECT_EQ(StripApiVersion(name), name);
  }
}

TEST(SyncCallsTest, FrameworksWaitForTheGpuWithoutACudaCall) {
  EXPECT_TRUE(WaitsForGpu("block_until_ready"));
  EXPECT_TRUE(WaitsForGpu("ArrayImpl.block_until_ready"));
  EXPECT_TRUE(WaitsForGpu("jax._src.api.block_until_ready"));
  EXPECT_FALSE(WaitsForGpu("block_until_ready.then"));
  EXPECT_FALSE(WaitsForGpu("not_block_until_ready"));
  EXPECT_FALSE(WaitsForGpu(""));
}

}  // namespace
}  // namespace gpubound
