// SPDX-License-Identifier: Apache-2.0
//
// Looking around on a machine.
#include "tools/launch/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/filesystem_kind.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(MachineFactsTest, CuptiIsFoundNewestFirstAndEachFileOnce) {
  const TemporaryFolder folder;
  folder.Write("libcupti.so.12", "");
  folder.Write("libcupti.so.2025.3.1", "");
  folder.Write("libcupti.so.11.8", "");
  fs::create_symlink("libcupti.so.2025.3.1", folder.File("libcupti.so.13"));
  fs::create_symlink("nowhere", folder.File("libcupti.so.14"));
  EXPECT_THAT(FindCupti({"/nonexistent", folder.path(), folder.path()}),
              ElementsAre(folder.File("libcupti.so.13"), folder.File("libcupti.so.12")));
}

TEST(MachineFactsTest, CuptiIsLookedForWhereTheLoaderWouldFirst) {
  const GetVariable environment =
      FakeVariables({{"LD_LIBRARY_PATH", ":/a::/b"}, {"CUDA_HOME", "/cuda"}});
  const auto folders = CuptiFolders(environment);
  ASSERT_GE(folders.size(), 3u);
  EXPECT_EQ(folders[0], "/a");
  EXPECT_EQ(folders[1], "/b");
  EXPECT_THAT(folders, Contains("/cuda/extras/CUPTI/lib64"));
}

TEST(MachineFactsTest, ARunPlaceThatIsNotThereYetIsItsFolder) {
  const TemporaryFolder folder;
  const RunPlaceFacts place = GatherRunPlace(folder.File("new.gpubound"));
  EXPECT_EQ(place.path, folder.path());
  EXPECT_EQ(place.problem, "");
  EXPECT_TRUE(place.free_bytes.has_value());
}

TEST(MachineFactsTest, ARunPlaceThatCannotBeIsAProblem) {
  EXPECT_NE(GatherRunPlace("/nonexistent/x/y.gpubound").problem, "");
}

TEST(MachineFactsTest, OnlyVariablesThatNothingReadsAreUnknown) {
  EXPECT_THAT(UnknownVariables({"GPUBOUND_RUN=x", "GPUBOUND_LIBRARY_DIR=y", "GPUBOUND_SIM_TRUTH=z",
                                "GPUBOUND_DISABLE=1", "PATH=/bin", "XGPUBOUND_A=1"}),
              IsEmpty());
  EXPECT_THAT(UnknownVariables({"GPUBOUND_FLUSHMS=1"}), ElementsAre("GPUBOUND_FLUSHMS"));
}

TEST(MachineFactsTest, NetworkFilesystemsAreKnownByTheirNumber) {
  EXPECT_TRUE(KindOfFilesystem(0x6969).is_network);
  EXPECT_STREQ(KindOfFilesystem(0x01021994).name, "tmpfs");
  EXPECT_FALSE(KindOfFilesystem(0x01021994).is_network);
  EXPECT_STREQ(KindOfFilesystem(0x12345678).name, "");
}

TEST(MachineFactsTest, AreGatheredOnThisMachine) {
  const MachineFacts facts = GatherMachineFacts();
  EXPECT_NE(facts.kernel, "");
  EXPECT_FALSE(JudgeMachine(facts).empty());
}

}  // namespace
}  // namespace gpubound
