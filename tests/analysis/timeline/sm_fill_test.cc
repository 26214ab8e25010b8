// SPDX-License-Identifier: Apache-2.0
//
// Occupancy of an H100 (132 SMs) for launches whose result the occupancy calculator gives.
#include "analysis/timeline/sm_fill.h"

#include <gtest/gtest.h>

#include "analysis/timeline/gpu_work.h"

namespace gpubound {
namespace {

DeviceInfo H100() {
  DeviceInfo device;
  device.multiprocessors = 132;
  device.max_warps_per_multiprocessor = 64;
  device.max_blocks_per_multiprocessor = 32;
  device.max_registers_per_multiprocessor = 65536;
  device.max_shared_bytes_per_multiprocessor = 233472;
  device.threads_per_warp = 32;
  device.compute_capability_major = 9;
  return device;
}

WorkInfo Kernel(uint32_t grid, uint32_t block, uint32_t registers = 16, uint32_t shared = 0) {
  WorkInfo work;
  work.kind = WorkKind::kKernel;
  work.grid[0] = grid;
  work.block[0] = block;
  work.grid[1] = work.grid[2] = work.block[1] = work.block[2] = 1;
  work.registers_per_thread = registers;
  work.dynamic_shared_bytes = shared;
  return work;
}

uint32_t Blocks(const WorkInfo& work) {
  return ResidentBlocksPerMultiprocessor(work, H100()).value_or(0);
}

TEST(SmFillTest, SmallBlocksAreLimitedByTheirNumber) { EXPECT_EQ(Blocks(Kernel(1, 32)), 32u); }

TEST(SmFillTest, LargeBlocksAreLimitedByWarps) {
  EXPECT_EQ(Blocks(Kernel(1, 1024)), 2u);
  EXPECT_EQ(Blocks(Kernel(1, 1000)), 2u);  // 31.25 warps take 32
}

TEST(SmFillTest, RegistersLimit) {
  EXPECT_EQ(Blocks(Kernel(1, 256, 255)), 1u);  // 8 warps of 8192 registers each
  EXPECT_EQ(Blocks(Kernel(1, 256, 33)), 6u);   // 33 * 32 rounds up to 1280 per warp
}

TEST(SmFillTest, SharedMemoryLimitsWithTheSystemsShare) {
  EXPECT_EQ(Blocks(Kernel(1, 128, 16, 227 * 1024)), 1u);
  EXPECT_EQ(Blocks(Kernel(1, 128, 16, 100 * 1024)), 2u);
}

TEST(SmFillTest, OneBlockFillsAlmostNothing) {
  EXPECT_EQ(SmFill(Kernel(1, 1024), H100()), kFillOne / (2 * 132));
}

TEST(SmFillTest, AGreenContextHoldsNoMoreThanItsShareOfTheDevice) {
  EXPECT_EQ(SmFill(Kernel(1'000'000, 1024), H100(), 66), kFillOne / 2);
  EXPECT_EQ(SmFill(Kernel(1, 1024), H100(), 66), kFillOne / (2 * 132));
  EXPECT_EQ(SmFill(Kernel(1'000'000, 1024), H100(), 132), kFillOne);
}

TEST(SmFillTest, FillIsAtMostOne) {
  EXPECT_EQ(SmFill(Kernel(264, 1024), H100()), kFillOne);
  EXPECT_EQ(SmFill(Kernel(1'000'000, 1024), H100()), kFillOne);
}

TEST(SmFillTest, GridsCountInAllDimensions) {
  WorkInfo work = Kernel(2, 1024);
  work.grid[1] = 3;
  work.grid[2] = 22;
  EXPECT_EQ(SmFill(work, H100()), kFillOne / 2);
}

TEST(SmFillTest, CopiesFillNothing) {
  WorkInfo copy;
  copy.kind = WorkKind::kMemcpy;
  EXPECT_EQ(SmFill(copy, H100()), 0u);
}

TEST(SmFillTest, WhatIsNotKnownIsAbsent) {
  EXPECT_FALSE(SmFill(Kernel(1, 0), H100()).has_value());
  EXPECT_FALSE(SmFill(Kernel(0, 32), H100()).has_value());
  EXPECT_FALSE(SmFill(Kernel(1, 32), DeviceInfo{}).has_value());
  EXPECT_FALSE(SmFill(Kernel(1, 32, 16, 1u << 30), H100()).has_value());  // does not fit
}

// A process with an H100 as device 1, whose context 2 is a green one of 66 multiprocessors.
class GreenContextTest : public testing::Test {
 protected:
  GreenContextTest() {
    process_.devices.resize(2);
    process_.devices[1].info = H100();
    process_.works = {{}, {Kernel(1'000'000, 1024), "k"}};
    process_.streams = {{}, {DeviceId{1}, 1, 7}, {DeviceId{1}, 2, 7}};
    process_.contexts = {{0, 1, 0, 132, false}, {0, 2, 1, 66, true}};
  }
  Fill FillOn(uint32_t stream) {
    DeviceWork work;
    work.work = WorkId{1};
    work.stream = StreamId{stream};
    WorkClassifier classifier(process_);
    classifier.Classify(work);
    const GpuItem again = classifier.Classify(work);
    EXPECT_EQ(again.device, 1);
    EXPECT_TRUE(again.fill_known);
    return again.fill;
  }

  ProcessTrace process_;
};

TEST_F(GreenContextTest, ItsWorkIsHeldByItsMultiprocessorsOnly) {
  EXPECT_EQ(FillOn(1), kFillOne);
  EXPECT_EQ(FillOn(2), kFillOne / 2);
}

TEST_F(GreenContextTest, AnotherDevicesContextOfThatNumberIsNotMeant) {
  process_.contexts[1].device = 1;
  EXPECT_EQ(FillOn(2), kFillOne);
}

}  // namespace
}  // namespace gpubound
