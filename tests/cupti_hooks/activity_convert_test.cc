// SPDX-License-Identifier: Apache-2.0
//
// Records of each release of CUPTI, byte by byte, and what becomes of them.
#include "cupti_hooks/cupti/activity_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/cupti_hooks/convert_fixture.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kLaunch = 211, kGetDevice = 17, kCuLaunch = 307;

class ActivityConvertTest : public ConvertFixture {};

INSTANTIATE_TEST_SUITE_P(Cupti, ActivityConvertTest, ReleasesOfCupti(), ReleaseName);

TEST_P(ActivityConvertTest, AKernelKeepsItsTimesPlaceNameAndGeometry) {
  Put(KernelBytes(version(), "saxpy", 1000, 3000).Set<uint64_t>(144, 55).Set<uint32_t>(156, 3));
  Convert();
  ASSERT_EQ(work().size(), 1u);
  const DeviceRecord& kernel = work()[0];
  EXPECT_EQ(kernel.start_ns, 1000u);
  EXPECT_EQ(kernel.end_ns, 3000u);
  EXPECT_EQ(kernel.correlation, 7u);
  EXPECT_EQ(kernel.graph_node, 55u);
  EXPECT_EQ(kernel.graph, 3u);
  EXPECT_EQ(host_.StreamOf(kernel).context, 1u);
  EXPECT_EQ(host_.StreamOf(kernel).stream, 7u);
  const RecordingHost::Work& what = host_.WorkOf(kernel);
  EXPECT_EQ(what.name, "saxpy");
  EXPECT_EQ(what.info.kind, WorkKind::kKernel);
  EXPECT_THAT(what.info.grid, ElementsAre(4, 2, 1));
  EXPECT_THAT(what.info.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(what.info.registers_per_thread, 32u);
  EXPECT_EQ(what.info.static_shared_bytes, 1024u);
  EXPECT_EQ(what.info.dynamic_shared_bytes, 2048u);
}

TEST_P(ActivityConvertTest, RecordsOfEveryKindFollowOneAnother) {
  Put(ApiCallBytes(version(), kKindRuntime, kLaunch, 900, 950));
  Put(KernelBytes(version(), "a", 1000, 2000));
  Put(MemcpyBytes(version(), 1, 2000, 3000));
  Put(Blank(kKindMemset, version())
          .Set<uint64_t>(8, 64)
          .Set<uint64_t>(16, 3000)
          .Set<uint64_t>(24, 3100)
          .Set<uint32_t>(32, 0));
  Put(Blank(kKindMemcpy2, version())
          .Set<uint8_t>(4, 10)
          .Set<uint64_t>(8, 32)
          .Set<uint64_t>(16, 3200)
          .Set<uint64_t>(24, 3300)
          .Set<uint32_t>(32, 0)
          .Set<uint32_t>(60, 21));
  Put(Blank(kKindGraphTrace, version())
          .Set<uint32_t>(4, 9)
          .Set<uint64_t>(8, 3400)
          .Set<uint64_t>(16, 3500)
          .Set<uint32_t>(24, 0)
          .Set<uint32_t>(28, 6));
  Put(KernelBytes(version(), "b", 4000, 5000));
  Convert();
  EXPECT_EQ(host_.sink.apis.size(), 1u);
  ASSERT_EQ(work().size(), 6u);
  EXPECT_EQ(host_.WorkOf(work()[1]).name, "Memcpy HtoD");
  EXPECT_EQ(work()[1].bytes, 4096u);
  EXPECT_EQ(work()[1].correlation, 8u);
  EXPECT_EQ(host_.WorkOf(work()[2]).name, "Memset");
  EXPECT_EQ(work()[2].bytes, 64u);
  EXPECT_EQ(host_.WorkOf(work()[3]).name, "Memcpy PtoP");
  EXPECT_EQ(work()[3].correlation, 21u);
  EXPECT_EQ(host_.WorkOf(work()[4]).info.kind, WorkKind::kGraph);
  EXPECT_EQ(work()[4].correlation, 9u);
  EXPECT_EQ(work()[4].graph, 6u);
  EXPECT_EQ(host_.WorkOf(work()[5]).name, "b");
  EXPECT_EQ(counts_.records, 7u);
}

TEST_P(ActivityConvertTest, AnApiCallIsNamedWithoutItsVersion) {
  Put(ApiCallBytes(version(), kKindRuntime, kLaunch, 900, 950).Set<uint32_t>(36, 2));
  Put(ApiCallBytes(version(), kKindRuntime, 9999, 910, 940));
  Convert();
  ASSERT_EQ(host_.sink.apis.size(), 2u);
  const ApiRecord& launch = host_.sink.apis[0];
  EXPECT_EQ(host_.LabelOf(launch.label).text, "cudaLaunchKernel");
  EXPECT_EQ(host_.LabelOf(launch.label).domain, "cuda_runtime");
  EXPECT_EQ(host_.LabelOf(launch.label).kind, LabelKind::kApi);
  EXPECT_EQ(launch.tid, 101u);
  EXPECT_EQ(launch.correlation, 7u);
  EXPECT_EQ(launch.result, 2);
  EXPECT_EQ(host_.LabelOf(host_.sink.apis[1].label).text, "runtime function 9999");
}

TEST_P(ActivityConvertTest, AFunctionIsInternedOnce) {
  for (int i = 0; i < 3; ++i) Put(ApiCallBytes(version(), kKindRuntime, kLaunch, 900, 950));
  Convert();
  EXPECT_EQ(host_.labels.size(), 1u);
}

TEST_P(ActivityConvertTest, NoisyFunctionsAreSkippedWhereCuptiCouldNotBeToldTo) {
  Put(ApiCallBytes(version(), kKindRuntime, kGetDevice, 900, 950));
  Convert();
  EXPECT_TRUE(host_.sink.apis.empty());
  EXPECT_EQ(counts_.skipped, 1u);
}

TEST_P(ActivityConvertTest, WorkWithoutATimeIsCountedAndNotRecorded) {
  Put(KernelBytes(version(), "exhausted", 0, 0));
  Put(KernelBytes(version(), "still running", 1000, 0));
  Put(MemcpyBytes(version(), 2, 0, 0));
  Convert();
  EXPECT_TRUE(work().empty());
  EXPECT_EQ(counts_.untimed, 3u);
}

TEST_P(ActivityConvertTest, AnApiCallWithoutATimeIsNoLossOfDeviceWork) {
  Put(ApiCallBytes(version(), kKindRuntime, kLaunch, 0, 0));
  Convert();
  EXPECT_TRUE(host_.sink.apis.empty());
  EXPECT_EQ(counts_.untimed, 0u);
  EXPECT_EQ(counts_.untimed_calls, 1u);
}

TEST_P(ActivityConvertTest, WorkThatEndedBeforeItBeganIsCountedAndNotRecorded) {
  Put(KernelBytes(version(), "inverted", 2000, 1000));
  Put(MemcpyBytes(version(), 2, 2000, 1000));
  Put(PeerCopyBytes(version(), 0).Set<uint64_t>(24, 500));
  Convert();
  EXPECT_TRUE(work().empty());
  EXPECT_EQ(counts_.inverted_work, 3u);
  EXPECT_EQ(counts_.inverted, 0u);
}

TEST_P(ActivityConvertTest, ACallThatEndedBeforeItBeganIsKeptWithLengthZero) {
  Put(ApiCallBytes(version(), kKindRuntime, kLaunch, 2000, 1000));
  Convert();
  ASSERT_EQ(host_.sink.apis.size(), 1u);
  EXPECT_EQ(host_.sink.apis[0].end_ns, 2000u);
  EXPECT_EQ(counts_.inverted, 1u);
  EXPECT_EQ(counts_.inverted_work, 0u);
}

TEST_P(ActivityConvertTest, AKindOfTheFutureIsCountedAndSteppedOver) {
  Put(Blank(kKindOfTheFuture, version()));
  Put(KernelBytes(version(), "after", 1000, 2000));
  Convert();
  EXPECT_EQ(counts_.unknown_kinds, 1u);
  EXPECT_EQ(work().size(), 1u);
}

TEST_P(ActivityConvertTest, ARecordThatCuptiCannotReadEndsTheBuffer) {
  cupti_.fail_record_after = 2;
  Put(KernelBytes(version(), "read", 1000, 2000));
  Put(KernelBytes(version(), "lost", 2000, 3000));
  Convert();
  EXPECT_EQ(work().size(), 1u);
  EXPECT_EQ(counts_.unreadable, 1u);
}

TEST_P(ActivityConvertTest, AnAddressThatNamesAnotherKernelLaterIsNotTakenForTheFirst) {
  char name[16] = "first";
  Put(KernelBytes(version(), name, 1000, 2000));
  Put(KernelBytes(version(), name, 2000, 3000));
  Convert();
  EXPECT_EQ(host_.works.size(), 1u) << "the second is found without asking the host";
  std::strcpy(name, "second");
  Put(KernelBytes(version(), name, 3000, 4000));
  Convert();
  EXPECT_EQ(host_.WorkOf(work()[0]).name, "first");
  EXPECT_EQ(host_.WorkOf(work()[2]).name, "second");
}

TEST_P(ActivityConvertTest, AKernelWithoutANameOrAnotherGeometryIsItsOwnWork) {
  Put(KernelBytes(version(), nullptr, 1000, 2000));
  Put(KernelBytes(version(), nullptr, 1000, 2000).Set<int32_t>(52, 5));
  Convert();
  EXPECT_EQ(host_.WorkOf(work()[0]).name, "(unnamed kernel)");
  EXPECT_NE(Raw(work()[0].work), Raw(work()[1].work));
}

// Callbacks have told the same of them.
TEST_P(ActivityConvertTest, RecordsWithinTheDriverThatAnotherToolAskedForSayNothing) {
  Put(ApiCallBytes(version(), kKindDriver, kCuLaunch, 910, 940));
  Put(Blank(kKindSynchronization, version()).Set<uint64_t>(8, 100).Set<uint64_t>(16, 200));
  Convert();
  EXPECT_TRUE(host_.sink.apis.empty());
  EXPECT_TRUE(host_.sink.syncs.empty());
  EXPECT_EQ(counts_.unknown_kinds, 0u);
}

TEST_P(ActivityConvertTest, AnOverheadHasACorrelationOnlyWhereTheVersionHasOne) {
  auto overhead = Blank(kKindOverhead, version())
                      .Set<uint32_t>(4, 6 << 16)
                      .Set<uint32_t>(8, 2)
                      .Set<uint32_t>(12, 100)
                      .Set<uint32_t>(16, 101)
                      .Set<uint64_t>(24, 500)
                      .Set<uint64_t>(32, 600);
  if (RecordSize(kKindOverhead, version()) > 40) overhead.Set<uint32_t>(40, 77);
  Put(overhead);
  Put(Blank(kKindOverhead, version())
          .Set<uint32_t>(4, 99 << 16)
          .Set<uint32_t>(8, 1)
          .Set<uint64_t>(24, 500)
          .Set<uint64_t>(32, 600));
  Convert();
  ASSERT_EQ(host_.sink.overheads.size(), 2u);
  const OverheadRecord& full = host_.sink.overheads[0];
  EXPECT_EQ(full.correlation, version() >= kCupti12_4 ? 77u : 0u);
  EXPECT_EQ(full.tid, 101u);
  EXPECT_EQ(host_.LabelOf(full.label).text, "COMMAND_BUFFER_FULL");
  EXPECT_EQ(host_.LabelOf(full.label).kind, LabelKind::kOverhead);
  EXPECT_EQ(host_.sink.overheads[1].tid, 0u) << "the object is no thread";
  EXPECT_EQ(host_.LabelOf(host_.sink.overheads[1].label).text, "kind 6488064");
}

RecordBytes DeviceBytes(uint32_t version) {
  RecordBytes device = Blank(kKindDevice, version);
  device.Set<uint64_t>(16, uint64_t{80} << 30).Set<uint32_t>(32, 32).Set<uint32_t>(44, 132);
  device.Set<uint32_t>(52, 64).Set<uint32_t>(56, 32).Set<uint32_t>(60, 233472);
  device.Set<uint32_t>(64, 65536).Set<uint32_t>(104, 9).Set<uint32_t>(108, 0);
  device.Set<uint32_t>(112, 0);
  // Ours to free from 13.0 on, as its header says, and shared before: the address sanitizer sees a
  // name that is kept, the C library one that was never allocated.
  device.Set<const char*>(136, version >= kCupti13_0 ? strdup("H100") : "H100");
  for (size_t i = 0; i < 16; ++i) {
    device.Set<uint8_t>(120 + i, static_cast<uint8_t>(i)).Set<uint8_t>(160 + i, 0x4d);
  }
  return device.Set<uint8_t>(144, 1).Set<uint8_t>(145, 0);
}

TEST_P(ActivityConvertTest, ADeviceTellsItsLimits) {
  Put(DeviceBytes(version()));
  Convert();
  ASSERT_EQ(host_.devices.count(0), 1u);
  const auto& [info, name] = host_.devices[0];
  EXPECT_EQ(name, "H100");
  EXPECT_EQ(info.memory_bytes, uint64_t{80} << 30);
  EXPECT_EQ(info.multiprocessors, 132u);
  EXPECT_EQ(info.max_warps_per_multiprocessor, 64u);
  EXPECT_EQ(info.max_blocks_per_multiprocessor, 32u);
  EXPECT_EQ(info.max_registers_per_multiprocessor, 65536u);
  EXPECT_EQ(info.max_shared_bytes_per_multiprocessor, 233472u);
  EXPECT_EQ(info.compute_capability_major, 9u);
  EXPECT_EQ(info.uuid[5], 5u);
  EXPECT_FALSE(info.simulated);
  EXPECT_FALSE(info.is_mig);
}

TEST_P(ActivityConvertTest, ASliceOfADeviceHasAnIdentityOfItsOwn) {
  Put(DeviceBytes(version()).Set<uint8_t>(145, 1));
  Convert();
  EXPECT_EQ(host_.devices[0].info.uuid[5], 0x4d);
  EXPECT_TRUE(host_.devices[0].info.is_mig);
}

TEST_P(ActivityConvertTest, ADeviceThatTheProcessMayNotUseIsNotItsDevice) {
  Put(DeviceBytes(version()).Set<uint8_t>(144, 0));
  Convert();
  EXPECT_TRUE(host_.devices.empty());
}

TEST_P(ActivityConvertTest, ADeviceSeenFirstThroughItsWorkIsDescribedLater) {
  Put(KernelBytes(version(), "early", 1000, 2000));
  Convert();
  ASSERT_EQ(host_.devices.count(0), 1u);
  EXPECT_EQ(host_.devices[0].name, "");
  Put(DeviceBytes(version()));
  Convert();
  EXPECT_EQ(host_.devices[0].name, "H100");
}

TEST(SimulatedDeviceTest, EveryDeviceOfTheStandInIsMarked) {
  ScriptedCupti cupti(kCupti13_0);
  CuptiApi api = cupti.api();
  api.simulated_device = true;
  RecordingHost host;
  WakeSignal worker;
  CallbackState state(api, &host, QuietApis(), &worker);
  ActivityConverter converter(api, &host, &host.sink, &state);
  RecordBytes kernel = KernelBytes(kCupti13_0, "k", 1, 2);
  std::vector<uint64_t> buffer(64);
  std::memcpy(buffer.data(), kernel.bytes().data(), kernel.bytes().size());
  converter.Convert(reinterpret_cast<uint8_t*>(buffer.data()), kernel.bytes().size());
  EXPECT_TRUE(host.devices[0].info.simulated);
}

}  // namespace
}  // namespace gpubound
