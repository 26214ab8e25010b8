// SPDX-License-Identifier: Apache-2.0
//
// Where work ran: devices, the ends of copies between them, contexts and green ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti_hooks/convert_fixture.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

class ActivityPlacesTest : public ConvertFixture {
 protected:
  static constexpr uint32_t kOnHost = 0x7fffffff;

  // As version 12.3 and later write it; before, there is no end to tell.
  RecordBytes GraphBytes(uint32_t device, uint32_t context, uint32_t end_device,
                         uint32_t end_context) {
    RecordBytes graph = Blank(kKindGraphTrace, version());
    graph.Set<uint32_t>(4, 9).Set<uint64_t>(8, 1000).Set<uint64_t>(16, 3000);
    graph.Set(24, device).Set<uint32_t>(28, 6).Set(32, context).Set<uint32_t>(36, 13);
    if (TellsWhereGraphsEnd()) graph.Set(48, end_device).Set(52, end_context);
    return graph;
  }
  bool TellsWhereGraphsEnd() const { return version() >= 21; }
};

INSTANTIATE_TEST_SUITE_P(Cupti, ActivityPlacesTest, ReleasesOfCupti(), ReleaseName);

TEST_P(ActivityPlacesTest, ACopyBetweenDevicesKeepsBothBusyAndCountsItsBytesOnce) {
  for (uint32_t device : {0u, 1u}) {
    host_.sink.devices.clear();
    Put(PeerCopyBytes(version(), device));
    Convert();
    ASSERT_EQ(work().size(), 2u);
    EXPECT_EQ(host_.StreamOf(work()[0]).context, device + 1);
    EXPECT_EQ(host_.StreamOf(work()[0]).stream, 13u);
    EXPECT_EQ(host_.StreamOf(work()[1]).context, 2 - device);
    EXPECT_EQ(work()[0].bytes + work()[1].bytes, 4096u);
    EXPECT_FALSE(host_.WorkOf(work()[0]).info.is_other_end());
    EXPECT_TRUE(host_.WorkOf(work()[1]).info.is_other_end());
    for (const DeviceRecord& end : work()) {
      EXPECT_EQ(end.start_ns, 1000u);
      EXPECT_EQ(end.end_ns, 3000u);
      EXPECT_EQ(end.correlation, 9u);
    }
  }
}

TEST_P(ActivityPlacesTest, ACopyBetweenDevicesWithoutTimesIsCountedOnce) {
  Put(PeerCopyBytes(version(), 0).Set<uint64_t>(16, 0).Set<uint64_t>(24, 0));
  Convert();
  EXPECT_TRUE(work().empty());
  EXPECT_EQ(counts_.untimed, 1u);
}

TEST_P(ActivityPlacesTest, AGraphIsOfTheDeviceWhereItBegins) {
  Put(GraphBytes(1, 3, 2, 4));
  Convert();
  ASSERT_EQ(work().size(), 1u);
  EXPECT_THAT(host_.devices, ElementsAre(Key(1u)));
  EXPECT_EQ(host_.StreamOf(work()[0]).context, 3u);
}

TEST_P(ActivityPlacesTest, AGraphThatBeginsOnTheHostIsOfTheDeviceWhereItEnds) {
  if (!TellsWhereGraphsEnd()) GTEST_SKIP() << "so does none before CUDA 12.3";
  Put(GraphBytes(kOnHost, kOnHost, 2, 4));
  Convert();
  ASSERT_EQ(work().size(), 1u);
  EXPECT_THAT(host_.devices, ElementsAre(Key(2u)));
  EXPECT_EQ(host_.StreamOf(work()[0]).context, 4u);
  EXPECT_EQ(host_.StreamOf(work()[0]).stream, 13u);
}

TEST_P(ActivityPlacesTest, AGraphThatBeginsAndEndsOnTheHostIsOfNoDeviceAndCounted) {
  Put(GraphBytes(kOnHost, kOnHost, kOnHost, kOnHost));
  Convert();
  EXPECT_TRUE(work().empty());
  EXPECT_TRUE(host_.devices.empty());
  EXPECT_EQ(counts_.graphs_of_no_device, 1u);
  EXPECT_EQ(counts_.whole_graphs, 0u);
}

// As a green context: a context of its own on the same device.
TEST_P(ActivityPlacesTest, ContextsOfOneDeviceStayApart) {
  Put(KernelBytes(version(), "whole", 1000, 3000));
  Put(KernelBytes(version(), "part", 2000, 4000).Set<uint32_t>(44, 2));
  Convert();
  ASSERT_EQ(work().size(), 2u);
  EXPECT_NE(work()[0].stream, work()[1].stream);
  EXPECT_EQ(host_.StreamOf(work()[0]).device, host_.StreamOf(work()[1]).device);
  EXPECT_EQ(host_.StreamOf(work()[1]).context, 2u);
}

TEST_P(ActivityPlacesTest, AGreenContextIsKnownWithItsShareWhereCuptiTells) {
  RecordBytes context = Blank(kKindContext, version());
  context.Set<uint32_t>(4, 2).Set<uint32_t>(8, 0);
  if (version() >= kCupti12_4) {
    context.Set<uint32_t>(16, 1).Set<uint8_t>(20, 1).Set<uint16_t>(22, 16);
  }
  Put(context);
  Convert();
  EXPECT_EQ(counts_.unknown_kinds, 0u);
  ASSERT_EQ(host_.contexts.size(), version() < kCupti12_4 ? 0u : 1u);
  if (host_.contexts.empty()) return;
  EXPECT_EQ(host_.contexts[0].device, 0u);
  EXPECT_EQ(host_.contexts[0].context, 2u);
  EXPECT_EQ(host_.contexts[0].parent, 1u);
  EXPECT_EQ(host_.contexts[0].multiprocessors, 16u);
  EXPECT_TRUE(host_.contexts[0].is_green);
}

TEST_P(ActivityPlacesTest, AGreenContextIsKnownByARecordOfItsOwnKindToo) {
  Put(Blank(kKindGreenContext, kCupti13_5)
          .Set<uint32_t>(4, 2)
          .Set<uint32_t>(8, 1)
          .Set<uint32_t>(12, 0)
          .Set<uint32_t>(16, 8)
          .Set<uint16_t>(20, 16));
  Convert();
  EXPECT_EQ(counts_.unknown_kinds, 0u);
  ASSERT_EQ(host_.contexts.size(), 1u);
  EXPECT_EQ(host_.contexts[0].device, 0u);
  EXPECT_EQ(host_.contexts[0].context, 2u);
  EXPECT_EQ(host_.contexts[0].parent, 1u);
  EXPECT_EQ(host_.contexts[0].multiprocessors, 16u);
  EXPECT_TRUE(host_.contexts[0].is_green);
}

}  // namespace
}  // namespace gpubound
