// SPDX-License-Identifier: Apache-2.0
//
// Where a process writes, and what it says when it cannot.
#include "libprofiler/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "proto/run_path.h"
#include "tests/libprofiler/temp_directory.h"

namespace gpubound {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;

class RunDirectoryTest : public testing::Test {
 protected:
  bool Open(const std::string& path) {
    testing::internal::CaptureStderr();
    const bool opened = directory_.Open(path, start_);
    said_ = testing::internal::GetCapturedStderr();
    return opened;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info = {};
    stat(path.c_str(), &info);
    return info.st_mode & 0777;
  }

  TempDirectory temp_;
  const ProcessStart start_{.realtime_ns = 1'700'000'000'000'000'005, .monotonic_ns = 6, .pid = 7};
  RunDirectory directory_;
  std::string said_;
};

TEST_F(RunDirectoryTest, IsMadePrivateWithItsParents) {
  ASSERT_TRUE(Open(temp_.Below("a/b/run.gpubound")));
  EXPECT_EQ(ModeOf(temp_.Below("a/b/run.gpubound")), 0700u);
  EXPECT_EQ(said_, "");
}

TEST_F(RunDirectoryTest, AnExistingOneIsJoined) {
  ASSERT_TRUE(Open(temp_.path()));
  EXPECT_EQ(directory_.path(), temp_.path());
}

TEST_F(RunDirectoryTest, FilesCarryHostPidStartAndSegment) {
  ASSERT_TRUE(Open(temp_.path()));
  EXPECT_THAT(directory_.DatabasePath(3), EndsWith(".7.1700000000000000005.3.db"));
  EXPECT_THAT(directory_.LivePath(), EndsWith(".7.1700000000000000005.live"));
}

TEST_F(RunDirectoryTest, ARelativePathIsMadeAbsoluteSinceTheProgramMayMove) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  ASSERT_EQ(chdir(temp_.path().c_str()), 0);
  EXPECT_TRUE(Open("run"));
  EXPECT_EQ(chdir(before), 0);
  EXPECT_EQ(directory_.path(), temp_.Below("run"));
}

TEST_F(RunDirectoryTest, TheDefaultNameSaysProgramTimeAndPid) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  ASSERT_EQ(chdir(temp_.path().c_str()), 0);
  EXPECT_TRUE(Open(""));
  EXPECT_EQ(chdir(before), 0);
  EXPECT_THAT(directory_.path(), MatchesRegex(".*/[^/]+-[0-9]{8}-[0-9]{6}-7\\.gpubound"));
}

TEST_F(RunDirectoryTest, APathThatIsAFileIsRefusedWithItsNameAndTheRemedy) {
  std::ofstream(temp_.Below("file")) << "x";
  EXPECT_FALSE(Open(temp_.Below("file")));
  EXPECT_THAT(said_, HasSubstr(temp_.Below("file")));
  EXPECT_THAT(said_, HasSubstr("Not a directory"));
  EXPECT_THAT(said_, HasSubstr("Set GPUBOUND_RUN"));
}

TEST_F(RunDirectoryTest, AnImpossibleParentIsRefused) {
  EXPECT_FALSE(Open("/proc/gpubound/run"));
  EXPECT_THAT(said_, HasSubstr("/proc/gpubound/run"));
}

TEST_F(RunDirectoryTest, APathTooLongForSqliteIsRefusedWithTheRemedy) {
  const std::string folders = temp_.Below(std::string(200, 'd')) + "/";
  const std::string longest = folders + std::string(kLongestRunPath - folders.size(), 'r');
  EXPECT_FALSE(Open(longest + "r"));
  EXPECT_THAT(said_, HasSubstr("has 391 bytes"));
  EXPECT_THAT(said_, HasSubstr("Set GPUBOUND_RUN"));
  EXPECT_TRUE(Open(longest)) << said_;
}

TEST_F(RunDirectoryTest, ALocalDirectoryIsNoNetworkFilesystem) {
  ASSERT_TRUE(Open(temp_.path()));
  EXPECT_FALSE(directory_.is_network());
}

}  // namespace
}  // namespace gpubound
