// SPDX-License-Identifier: Apache-2.0
//
// A run whose time counts, and what is left of what it said.
#include "tools/verify/timed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/tools/tool_fixtures.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TimedRunTest : public testing::Test {
 protected:
  Result<TimedRun> RunShell(const std::string& script) {
    return RunTimed({"/bin/sh", "-c", script}, {OwnEnvironment(), path_});
  }
  std::vector<std::string> LastOf(const std::string& text, size_t count) {
    std::ofstream(path_, std::ios::binary) << text;
    return LastLines(path_, count);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("stderr");
};

TEST_F(TimedRunTest, KeepsOfARunItsStatusAndItsStderr) {
  const Result<TimedRun> run = RunShell("echo dropped; echo kept >&2; exit 9");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->exit_status, 9);
  EXPECT_GT(run->wall_ns, 0);
  EXPECT_THAT(LastLines(path_, 5), ElementsAre("kept"));
}

TEST_F(TimedRunTest, EachRunBeginsItsStderrAnew) {
  ASSERT_TRUE(RunShell("echo a longer first one >&2").ok());
  ASSERT_TRUE(RunShell("echo second >&2").ok());
  EXPECT_THAT(LastLines(path_, 5), ElementsAre("second"));
}

TEST_F(TimedRunTest, OfManyLinesTheLastAreKept) {
  EXPECT_THAT(LastOf("1\n\n2\n3\n", 2), ElementsAre("2", "3"));
  EXPECT_THAT(LastOf("1\n2\nunfinished", 9), ElementsAre("1", "2", "unfinished"));
  EXPECT_THAT(LastOf(std::string(100'000, 'x') + "\nlast\n", 1), ElementsAre("last"));
}

TEST_F(TimedRunTest, OfNothingThereAreNone) {
  EXPECT_THAT(LastOf("", 3), IsEmpty());
  EXPECT_THAT(LastLines(folder_.File("missing"), 3), IsEmpty());
}

}  // namespace
}  // namespace gpubound
