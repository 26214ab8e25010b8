// SPDX-License-Identifier: Apache-2.0
#include "analysis/reader/process_presence.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace gpubound {
namespace {

std::string ThisHost() {
  char host[256] = {};
  EXPECT_EQ(gethostname(host, sizeof(host) - 1), 0);
  return host;
}

TEST(ProcessPresence, ThisProcessIsThereAndAnImpossibleOneIsNot) {
  const std::string host = ThisHost();
  EXPECT_EQ(PresenceOf({host, getpid(), RealtimeNow()}), Presence::kThere);
  EXPECT_EQ(PresenceOf({host, INT32_MAX, 0}), Presence::kGone);
  EXPECT_EQ(PresenceOf({host + "x", getpid(), RealtimeNow()}), Presence::kElsewhere);
}

TEST(ProcessPresence, OneThatHasGotThePidSinceIsNotIt) {
  const std::string host = ThisHost();
  constexpr int64_t kHour = 3'600'000'000'000;
  EXPECT_EQ(PresenceOf({host, getpid(), RealtimeNow() - 24 * kHour}), Presence::kGone);
}

TEST(ProcessPresence, ADeadOneThatNobodyHasWaitedForIsGone) {
  const std::string host = ThisHost();
  const int64_t now_ns = RealtimeNow();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(PresenceOf({host, child, now_ns}), Presence::kGone);
  waitpid(child, nullptr, 0);
}

class PresenceByTraceTest : public testing::Test {
 protected:
  PresenceByTraceTest() {
    process_.identity = {"a container", getpid(), RealtimeNow()};
    process_.boot_id = OwnBootId();
    struct stat pids;
    if (stat("/proc/self/ns/pid", &pids) == 0) {
      process_.pid_namespace = static_cast<int64_t>(pids.st_ino);
    }
  }
  ProcessTrace process_;
};

TEST_F(PresenceByTraceTest, AMachineIsKnownByItsKernelWhateverItIsCalled) {
  ASSERT_FALSE(process_.boot_id.empty());
  EXPECT_EQ(PresenceByTrace(process_), Presence::kThere);
  process_.identity.pid = INT32_MAX;
  EXPECT_EQ(PresenceByTrace(process_), Presence::kGone);
}

TEST_F(PresenceByTraceTest, APidOfAnotherNamespaceSaysNothingHere) {
  ++process_.pid_namespace;
  EXPECT_EQ(PresenceByTrace(process_), Presence::kElsewhere);
}

TEST_F(PresenceByTraceTest, AnotherMachineOfTheSameNameIsElsewhere) {
  process_.identity.host = ThisHost();
  process_.boot_id = "another";
  EXPECT_EQ(PresenceByTrace(process_), Presence::kElsewhere);
  process_.boot_id.clear();
  EXPECT_EQ(PresenceByTrace(process_), Presence::kThere) << "all that is known is its name";
}

}  // namespace
}  // namespace gpubound
