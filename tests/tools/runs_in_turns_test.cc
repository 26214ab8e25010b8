// SPDX-License-Identifier: Apache-2.0
//
// Two runs of which one works at a time.
#include "tools/verify/runs_in_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/tool_fixtures.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::SizeIs;

constexpr char kWork[] = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; ";

class RunsInTurnsTest : public testing::Test {
 protected:
  Result<std::array<TimedRun, 2>> RunShell(const std::string& script) {
    return RunCommand({"/bin/sh", "-c", script});
  }
  Result<std::array<TimedRun, 2>> RunCommand(const std::vector<std::string>& command) {
    std::vector<std::string> first = OwnEnvironment();
    std::vector<std::string> second = first;
    first.emplace_back("WHO=first");
    second.emplace_back("WHO=second");
    return RunInTurns(command, {RunInput{first, stderr_of_[0]}, RunInput{second, stderr_of_[1]}},
                      turn_, &random_);
  }

  TemporaryFolder folder_;
  const std::string stderr_of_[2] = {folder_.File("first"), folder_.File("second")};
  std::chrono::milliseconds turn_{10};
  std::mt19937_64 random_{1};
};

TEST_F(RunsInTurnsTest, EachHasItsOwnEnvironmentAndStderrAndStatus) {
  const auto runs = RunShell("echo $WHO >&2; test $WHO = first");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[0].exit_status, 0);
  EXPECT_EQ((*runs)[1].exit_status, 1);
  EXPECT_THAT(LastLines(stderr_of_[0], 5), ElementsAre("first"));
  EXPECT_THAT(LastLines(stderr_of_[1], 5), ElementsAre("second"));
}

TEST_F(RunsInTurnsTest, OneWorksWhileTheOtherIsStopped) {
  const steady_clock::time_point begin = steady_clock::now();
  const auto runs = RunShell(kWork);
  const nanoseconds took = steady_clock::now() - begin;
  ASSERT_TRUE(runs.ok());
  const auto& [first, second] = *runs;
  EXPECT_THAT(first.stopped, SizeIs(testing::Ge(3u)));
  EXPECT_THAT(second.stopped, SizeIs(testing::Ge(3u)));
  EXPECT_GT(first.cpu_ns, 0);
  EXPECT_LE(first.cpu_ns, first.wall_ns);
  EXPECT_LE(first.wall_ns + second.wall_ns, took.count());
}

// The child writes down when it works: /proc/uptime has hundredths of a second.
TEST_F(RunsInTurnsTest, ItsChildrenAreStoppedWithIt) {
  constexpr int64_t kMarginNs = 30'000'000;
  turn_ = std::chrono::milliseconds(100);
  const std::string log = folder_.File("log");
  const auto runs = RunShell(
      "/bin/sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); read now idle < /proc/uptime; "
      "echo $now >> " +
      log + ".$WHO; done' & wait");
  ASSERT_TRUE(runs.ok());
  ASSERT_THAT((*runs)[0].stopped, SizeIs(testing::Ge(1u)));
  std::istringstream lines(ReadText(log + ".first"));
  size_t count = 0;
  for (double seconds = 0; lines >> seconds; ++count) {
    const auto now_ns = static_cast<int64_t>(seconds * 1e9);
    for (const Interval& stop : (*runs)[0].stopped) {
      EXPECT_FALSE(now_ns > stop.begin_ns + kMarginNs && now_ns < stop.end_ns - kMarginNs);
    }
  }
  EXPECT_EQ(count, 20'000u);
}

// A shell that starts programs is within vfork much of the time.
TEST_F(RunsInTurnsTest, AThreadWithinVforkHoldsNobodyUp) {
  const auto runs = RunShell("i=0; while [ $i -lt 150 ]; do i=$((i+1)); /bin/true; done");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[0].exit_status, 0);
  EXPECT_EQ((*runs)[1].exit_status, 0);
}

TEST_F(RunsInTurnsTest, TheOneThatIsLeftGoesOn) {
  const auto runs = RunShell("test $WHO = first || { " + std::string(kWork) + "}");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[1].exit_status, 0);
  EXPECT_GT((*runs)[1].wall_ns, (*runs)[0].wall_ns);
}

TEST_F(RunsInTurnsTest, ASignalThatEndsOneIsItsStatus) {
  const auto runs = RunShell("kill -9 $$");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[0].exit_status, 137);
}

TEST_F(RunsInTurnsTest, WhatCannotBeStartedIsAnError) {
  const auto runs = RunCommand({"/nonexistent/train"});
  ASSERT_FALSE(runs.ok());
  EXPECT_EQ(runs.error().object, "/nonexistent/train");
}

}  // namespace
}  // namespace gpubound
