// SPDX-License-Identifier: Apache-2.0
//
// That what is kept of kernels and streams stays bounded, and is right afterwards. What is looked
// up for records is in activity_convert_test.cc.
#include "cupti_hooks/cupti/work_cache.h"

#include <gtest/gtest.h>

#include "tests/cupti_hooks/recording_host.h"

namespace gpubound {
namespace {

constexpr uint32_t kMost = 1 << 16;

class WorkCacheTest : public ::testing::Test {
 protected:
  WorkId Kernel(uint32_t blocks) {
    WorkInfo info;
    info.kind = WorkKind::kKernel;
    info.grid[0] = blocks;
    return cache_.KernelOf(info, "k");
  }

  RecordingHost host_;
  WorkCache cache_{&host_, /*simulated=*/false};
};

TEST_F(WorkCacheTest, AKernelThatIsKnownIsNotAskedForAgain) {
  const WorkId kernel = Kernel(1);
  EXPECT_EQ(Kernel(1), kernel);
  EXPECT_NE(Kernel(2), kernel);
  EXPECT_EQ(host_.works.size(), 2u);
}

TEST_F(WorkCacheTest, GeometriesThatNeverRepeatAreForgottenTogether) {
  for (uint32_t blocks = 0; blocks < kMost; ++blocks) Kernel(blocks);
  Kernel(0);
  EXPECT_EQ(host_.works.size(), kMost) << "known until there are too many";
  Kernel(kMost);
  Kernel(0);
  EXPECT_EQ(host_.works.size(), kMost + 2);
}

TEST_F(WorkCacheTest, StreamsThatNeverComeBackAreForgottenTogether) {
  for (uint32_t stream = 0; stream < kMost; ++stream) cache_.StreamOf(0, 1, stream);
  cache_.StreamOf(0, 1, 0);
  EXPECT_EQ(host_.streams.size(), kMost);
  cache_.StreamOf(0, 1, kMost);
  cache_.StreamOf(0, 1, 0);
  EXPECT_EQ(host_.streams.size(), kMost + 2);
}

}  // namespace
}  // namespace gpubound
