// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/device_peak.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(DevicePeakTest, DevicesAreKnownByTheNameThatCudaGivesThem) {
  const DevicePeak* const peak = PeakOf("NVIDIA H100 80GB HBM3");
  ASSERT_NE(peak, nullptr);
  EXPECT_DOUBLE_EQ(peak->flops, 989e12);
  EXPECT_DOUBLE_EQ(peak->bytes, 3350e9);
  EXPECT_DOUBLE_EQ(PeakOf("Tesla V100-SXM2-16GB")->bytes, 900e9);
  EXPECT_DOUBLE_EQ(PeakOf("NVIDIA L4")->flops, 121e12);
  EXPECT_DOUBLE_EQ(PeakOf("NVIDIA L40S")->flops, 362e12);
}

TEST(DevicePeakTest, OfAnotherDeviceNothingIsKnown) {
  EXPECT_EQ(PeakOf("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), nullptr) << "a part of a device";
  EXPECT_EQ(PeakOf("NVIDIA L400"), nullptr);
  EXPECT_EQ(PeakOf("device 0"), nullptr);
  EXPECT_EQ(PeakOf(""), nullptr);
}

}  // namespace
}  // namespace gpubound
