// SPDX-License-Identifier: Apache-2.0
//
// run.json, as written and as replaced.
#include "tools/launch/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/segments/run_info.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class RunRecordTest : public testing::Test {
 protected:
  RunRecordTest() {
    record_.command = {"python", "train.py", "a b"};
    record_.cwd = "/home/x";
    record_.host = "node1";
    record_.root_pid = 42;
    record_.start_monotonic_ns = 1;
    record_.start_realtime_ns = 2;
  }
  Result<bool> Write(bool replace) { return WriteRunRecord(folder_.path(), record_, replace); }
  RunInfo Read() { return ReadRunInfo(folder_.File("run.json")).value(); }
  long FileCount() { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  TemporaryFolder folder_;
  RunRecord record_;
};

TEST_F(RunRecordTest, IsReadBackAsItWasWritten) {
  ASSERT_TRUE(Write(false).ok());
  const RunInfo info = Read();
  EXPECT_THAT(info.command, ElementsAre("python", "train.py", "a b"));
  EXPECT_EQ(info.cwd, "/home/x");
  EXPECT_EQ(info.host, "node1");
  EXPECT_EQ(info.root_pid, 42);
  EXPECT_EQ(info.start_monotonic_ns, 1);
  EXPECT_EQ(info.start_realtime_ns, 2);
  EXPECT_EQ(info.version, GPUBOUND_VERSION);
  EXPECT_FALSE(info.end_monotonic_ns || info.exit_code || info.signal);
}

TEST_F(RunRecordTest, TheEndSaysWhoHasFiles) {
  for (const char* name : {"node1.42.7.0.db", "node1.42.7.1.db", "node1.42.7.live",
                           "node1.43.8.live", "sums.gpubound"}) {
    std::ofstream(folder_.File(name)) << "x";
  }
  record_.end_monotonic_ns = 9;
  record_.recorded = RecordedIn(folder_.path());
  ASSERT_TRUE(Write(true).ok());
  EXPECT_THAT(Read().recorded, ElementsAre("node1.42.7", "node1.43.8"));
}

TEST_F(RunRecordTest, TheEndReplacesTheBeginAndLeavesNothingElse) {
  ASSERT_TRUE(Write(false).ok());
  record_.end_monotonic_ns = 9;
  record_.signal = 15;
  ASSERT_TRUE(Write(true).ok());
  EXPECT_EQ(Read().end_monotonic_ns, 9);
  EXPECT_EQ(Read().signal, 15);
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(RunRecordTest, IsPrivate) {
  ASSERT_TRUE(Write(false).ok());
  EXPECT_EQ(ModeOf(folder_.File("run.json")), 0600u);
}

TEST_F(RunRecordTest, OfAnotherLauncherIsKept) {
  ASSERT_TRUE(Write(false).value());
  record_.root_pid = 43;
  const auto second = Write(false);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(*second);
  EXPECT_EQ(Read().root_pid, 42);
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(RunRecordTest, ArgumentsThatAreNotUtf8DoNotStopIt) {
  record_.command = {"echo", "\xff\xfe"};
  ASSERT_TRUE(Write(false).ok());
  EXPECT_EQ(Read().command.size(), 2u);
}

TEST_F(RunRecordTest, AFolderThatIsNotThereIsAnErrorWithARemedy) {
  const auto written = WriteRunRecord("/nonexistent", record_, false);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().ToString(), HasSubstr("/nonexistent/run.json"));
  EXPECT_THAT(written.error().remedy, HasSubstr("-o DIR"));
}

}  // namespace
}  // namespace gpubound
