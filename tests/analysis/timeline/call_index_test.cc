// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/call_index.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "analysis/trace/call_causes.h"

namespace gpubound {
namespace {

constexpr OperationIndex kOperation = 3;
constexpr uint32_t kMany = 30'000;  // more than an index holds at first, and than begin in 10 ms

// Call number i begins at i * 1,000 ns and has correlation i + 1.
ThreadCall CallAt(uint32_t i, int32_t result = 0) {
  const auto start_ns = int64_t{i} * 1000;
  return {{start_ns, start_ns + 500, i + 1, LabelId{1}, result}, 0};
}

DeviceWork WorkOf(uint32_t i, int64_t start_ns) {
  DeviceWork work{};
  work.start_ns = start_ns;
  work.end_ns = start_ns + 100;
  work.correlation = i + 1;
  return work;
}

CallNumber Add(CallIndex* index, uint32_t i, Launches launches, int32_t result = 0) {
  const CallNumber number = index->Add(CallAt(i, result), ApiClass::kCall, launches);
  index->At(number)->operation = kOperation;
  return number;
}

void FindWork(CallIndex* index, uint32_t i, int64_t start_ns) {
  const CallNumber number = index->Find(WorkOf(i, start_ns));
  ASSERT_NE(number, kNoCall);
  index->Settle(index->At(number));
}

// As the calls behind it come, the work of each but the first.
void RunPastTheFirst(CallIndex* index, uint32_t calls = kMany) {
  for (uint32_t i = 1; i < calls; ++i) {
    Add(index, i, Launches::kOne);
    FindWork(index, i, int64_t{i} * 1000 + 400);
  }
}

bool KnowsTheFirst(const CallIndex& index) {
  return index.Find(WorkOf(0, int64_t{kMany} * 1000)) == 0;
}

enum class Work { kHasBegun, kIsToCome };

bool IsRememberedAfterMany(Launches launches, Work work, int32_t result = 0) {
  CallIndex index;
  Add(&index, 0, launches, result);
  if (work == Work::kHasBegun) FindWork(&index, 0, 400);
  RunPastTheFirst(&index);
  return KnowsTheFirst(index);
}

TEST(CallIndexTest, RemembersALaunchUntilItsWorkBegins) {
  EXPECT_TRUE(IsRememberedAfterMany(Launches::kOne, Work::kIsToCome));
  EXPECT_FALSE(IsRememberedAfterMany(Launches::kOne, Work::kHasBegun));
}

TEST(CallIndexTest, RemembersWhatLaunchesMuch) {
  EXPECT_TRUE(IsRememberedAfterMany(Launches::kMany, Work::kHasBegun));
}

TEST(CallIndexTest, ForgetsWhatLaunchesNothing) {
  EXPECT_FALSE(IsRememberedAfterMany(Launches::kNothing, Work::kIsToCome));
}

TEST(CallIndexTest, ForgetsALaunchThatFailed) {
  EXPECT_FALSE(IsRememberedAfterMany(Launches::kOne, Work::kIsToCome, /*result=*/2));
}

TEST(CallIndexTest, RemembersACallThatHasNotEnded) {
  CallIndex index;
  ThreadCall copy = CallAt(0);
  copy.call.end_ns = int64_t{kMany} * 1000;
  index.At(index.Add(copy, ApiClass::kAsyncCopy, Launches::kOne))->operation = kOperation;
  FindWork(&index, 0, 400);  // its first piece
  RunPastTheFirst(&index);
  EXPECT_TRUE(KnowsTheFirst(index));
}

TEST(CallIndexTest, RemembersACallUntilItsOperationIsKnown) {
  CallIndex index;
  index.Add(CallAt(0), ApiClass::kCall, Launches::kNothing);
  RunPastTheFirst(&index);
  EXPECT_TRUE(KnowsTheFirst(index));
}

TEST(CallIndexTest, RemembersNoMoreThanTheLargestTableHolds) {
  CallIndex index;
  Add(&index, 0, Launches::kOne);
  RunPastTheFirst(&index, (1u << 20) + 1);
  EXPECT_EQ(index.At(0), nullptr);
  EXPECT_NE(index.At(1), nullptr);
}

TEST(CallIndexTest, HandsOnWhatItAwaits) {
  CallIndex before;
  Add(&before, 0, Launches::kOne);
  Add(&before, 1, Launches::kOne);
  FindWork(&before, 1, 1400);
  StateArchive writing;
  writing.SetLimits(kOperation + 1, 1);
  before.Visit(writing, 1);
  const std::string state = writing.Take();

  CallIndex after;
  StateArchive reading(state);
  reading.SetLimits(kOperation + 1, 1);
  after.Visit(reading, 1);
  ASSERT_TRUE(reading.done());
  for (uint32_t i = 2; i < kMany; ++i) {
    Add(&after, i, Launches::kOne);
    FindWork(&after, i, int64_t{i} * 1000 + 400);
  }
  EXPECT_TRUE(KnowsTheFirst(after));
}

TEST(LaunchesTest, ByName) {
  for (const char* name : {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaMemcpyAsync",
                           "cuMemsetD32Async", "hipExtModuleLaunchKernel", "cudaSomethingNew"}) {
    EXPECT_EQ(LaunchesOf(name), Launches::kOne) << name;
  }
  for (const char* name : {"cudaGraphLaunch_v10000", "cuGraphLaunch", "cudaMemcpyBatchAsync"}) {
    EXPECT_EQ(LaunchesOf(name), Launches::kMany) << name;
  }
  for (const char* name :
       {"cudaStreamSynchronize", "cudaEventRecord", "cuCtxSynchronize", "cudaGetDevice",
        "cudaMalloc", "cudaHostAlloc", "cuMemAlloc_v2", "cudaFree", "cudaStreamIsCapturing"}) {
    EXPECT_EQ(LaunchesOf(name), Launches::kNothing) << name;
  }
}

}  // namespace
}  // namespace gpubound
