// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/device_kind.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(DeviceKindTest, DevicesAreKnownByTheNameThatCudaGivesThem) {
  const DeviceKind* const peak = KindOfDevice("NVIDIA H100 80GB HBM3");
  ASSERT_NE(peak, nullptr);
  EXPECT_DOUBLE_EQ(peak->flops, 989e12);
  EXPECT_DOUBLE_EQ(peak->bytes, 3350e9);
  EXPECT_DOUBLE_EQ(KindOfDevice("Tesla V100-SXM2-16GB")->bytes, 900e9);
  EXPECT_DOUBLE_EQ(KindOfDevice("NVIDIA L4")->flops, 121e12);
  EXPECT_DOUBLE_EQ(KindOfDevice("NVIDIA L40S")->flops, 362e12);
}

TEST(DeviceKindTest, KindsAreNamedAsPeopleTypeThem) {
  for (const char* const name : {"RTX 4090", "rtx4090", "rtx-4090"}) {
    ASSERT_NE(KindNamed(name), nullptr) << name;
    EXPECT_EQ(KindNamed(name)->limits.multiprocessors, 128u) << name;
  }
  EXPECT_EQ(KindNamed("RTX"), nullptr);
  EXPECT_EQ(KindNamed(""), nullptr);
}

TEST(DeviceKindTest, EveryKindIsWhole) {
  EXPECT_GE(KnownKinds().size(), 10u);
  for (const std::string& name : KnownKinds()) {
    const DeviceKind* const kind = KindNamed(name);
    ASSERT_NE(kind, nullptr) << name;
    EXPECT_EQ(kind->name, name) << "two kinds are named alike";
    EXPECT_GT(kind->flops, kind->general_flops) << name;
    EXPECT_GT(kind->general_flops, 1e12) << name;
    EXPECT_GT(kind->bytes, 1e11) << name;
    EXPECT_GT(kind->limits.multiprocessors, 0u) << name;
    EXPECT_GT(kind->limits.max_warps_per_multiprocessor, 0u)
        << name << ": its compute capability is not known";
  }
}

TEST(DeviceKindTest, CardsOfALaptopAreOthers) {
  EXPECT_NE(KindOfDevice("NVIDIA GeForce RTX 4090"), nullptr);
  EXPECT_EQ(KindOfDevice("NVIDIA GeForce RTX 4090 Laptop GPU"), nullptr);
}

TEST(DeviceKindTest, OfAnotherDeviceNothingIsKnown) {
  EXPECT_EQ(KindOfDevice("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), nullptr) << "a part of a device";
  EXPECT_EQ(KindOfDevice("NVIDIA L400"), nullptr);
  EXPECT_EQ(KindOfDevice("device 0"), nullptr);
  EXPECT_EQ(KindOfDevice(""), nullptr);
}

}  // namespace
}  // namespace gpubound
