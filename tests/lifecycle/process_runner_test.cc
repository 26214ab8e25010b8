// SPDX-License-Identifier: Apache-2.0
//
// What is said of a program that hangs, and what is left of it.
#include "tests/lifecycle/process_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/lifecycle/process_family.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

constexpr int kPollUs = 1000;

int CountOf(const std::vector<FamilyMember>& family, const std::string& name) {
  return static_cast<int>(std::count_if(
      family.begin(), family.end(), [&name](const auto& member) { return member.name == name; }));
}

// A shell that waits for a child of its own process group and for one of another session.
class HangingProgram : public testing::Test {
 protected:
  HangingProgram() {
    ProcessRunner runner;
    runner.SetDeadlineSeconds(1);  // from when both children are there
    runner.WhileRunning([this](pid_t pid) {
      while (CountOf(family_, "sleep") < 2) {
        usleep(kPollUs);
        family_ = FamilyOf(pid);
      }
    });
    outcome_ = runner.Run({"/bin/sh", "-c", "sleep 1000 & setsid sleep 1000 & wait"});
  }

  std::vector<FamilyMember> family_;
  Outcome outcome_;
};

TEST_F(HangingProgram, IsShownWithTheStacksOfItsDescendants) {
  EXPECT_TRUE(outcome_.hung);
  ASSERT_EQ(family_.size(), 3u);
  for (const FamilyMember& member : family_) {
    EXPECT_THAT(outcome_.stacks,
                HasSubstr("pid " + std::to_string(member.pid) + " (" + member.name + ")\n"));
  }
}

TEST(AwaitChildTest, AChildThatHangsIsShownWithItsStackAndEnded) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const Outcome outcome = AwaitChild(child, 1);
  EXPECT_TRUE(outcome.hung);
  EXPECT_THAT(outcome.stacks, HasSubstr("pid " + std::to_string(child)));
  EXPECT_THAT(outcome.stacks, HasSubstr("pause"));
  EXPECT_TRUE(FamilyOf(child).empty());
}

TEST(AwaitChildTest, AChildThatEndsSaysHow) {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  const Outcome outcome = AwaitChild(child, 60);
  EXPECT_FALSE(outcome.hung);
  EXPECT_EQ(outcome.exit_code, 7);
}

TEST_F(HangingProgram, IsEndedWithItsDescendants) {
  for (const FamilyMember& member : family_) {
    while (!FamilyOf(member.pid).empty()) usleep(kPollUs);  // ended, by the test's time limit
  }
  EXPECT_EQ(family_.size(), 3u);
}

}  // namespace
}  // namespace gpubound
