// SPDX-License-Identifier: Apache-2.0
//
// Starting a program and staying out of its way.
#include "tools/launch/child_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/tools/tool_fixtures.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace {

struct sigaction ActionOf(int signal) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action;
}

class ChildProgramTest : public testing::Test {
 protected:
  ProgramEnd RunShell(const std::string& script) {
    ChildProgram program;
    EXPECT_EQ(program.Start({"/bin/sh", "-c", script}, OwnEnvironment()), 0);
    return program.Wait();
  }

  TemporaryFolder folder_;
};

TEST_F(ChildProgramTest, HandsOnTheExitCode) {
  EXPECT_EQ(RunShell("exit 0").ExitStatus(), 0);
  EXPECT_EQ(RunShell("exit 7").ExitStatus(), 7);
  EXPECT_EQ(RunShell("exit 255").ExitStatus(), 255);
}

TEST_F(ChildProgramTest, HandsOnTheSignalAsAShellDoes) {
  EXPECT_EQ(RunShell("kill -KILL $$").ExitStatus(), 128 + SIGKILL);
  EXPECT_EQ(RunShell("kill -SEGV $$").signal, SIGSEGV);
}

TEST_F(ChildProgramTest, SaysWhyNothingCouldBeStarted) {
  ChildProgram program;
  EXPECT_EQ(program.Start({"/nonexistent/program"}, {}), ENOENT);
  EXPECT_EQ(program.Start({folder_.path()}, {}), EACCES);
}

TEST_F(ChildProgramTest, StartsItWithTheGivenEnvironmentOnly) {
  ChildProgram program;
  ASSERT_EQ(program.Start({"/bin/sh", "-c", "test \"$A\" = 1 && test -z \"$HOME\""}, {"A=1"}), 0);
  EXPECT_EQ(program.Wait().ExitStatus(), 0);
}

TEST_F(ChildProgramTest, SurvivesWhatTheTerminalSendsToBoth) {
  EXPECT_EQ(RunShell("kill -INT $PPID; kill -QUIT $PPID; exit 3").ExitStatus(), 3);
}

TEST_F(ChildProgramTest, HandsOnWhatOnlyTheLauncherGets) {
  for (const char* name : {"TERM", "HUP", "USR1", "USR2"}) {
    const std::string signal = name;
    // The shell sends the signal to its parent, which is this process, and waits to get it back.
    EXPECT_EQ(RunShell("trap 'exit 9' " + signal + "; kill -" + signal +
                       " $PPID; while :; do sleep 0.01; done")
                  .ExitStatus(),
              9)
        << signal;
  }
}

TEST_F(ChildProgramTest, LeavesTheProgramItsDefaultDispositions) {
  EXPECT_EQ(RunShell("kill -INT $$; exit 0").ExitStatus(), 128 + SIGINT);
  EXPECT_EQ(RunShell("kill -TERM $$; exit 0").ExitStatus(), 128 + SIGTERM);
}

TEST_F(ChildProgramTest, LeavesTheProgramAnIgnoredHangup) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  sigaction(SIGHUP, &ignore, &before);
  EXPECT_EQ(RunShell("kill -HUP $$; kill -HUP $PPID; exit 4").ExitStatus(), 4);
  sigaction(SIGHUP, &before, nullptr);
}

TEST_F(ChildProgramTest, WaitsEvenWhereChildrenWereIgnored) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  sigaction(SIGCHLD, &ignore, &before);
  EXPECT_EQ(RunShell("exit 5").ExitStatus(), 5);
  EXPECT_EQ(ActionOf(SIGCHLD).sa_handler, SIG_IGN);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST_F(ChildProgramTest, PutsTheLaunchersOwnDispositionsBack) {
  RunShell("exit 0");
  EXPECT_EQ(ActionOf(SIGINT).sa_handler, SIG_DFL);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST_F(ChildProgramTest, ASignalThatComesTooLateIsForgotten) {
  ChildProgram program;
  ASSERT_EQ(program.Start({"/bin/true"}, {}), 0);
  program.Wait();
  kill(getpid(), SIGTERM);  // pending until the destructor takes it
}

}  // namespace
}  // namespace gpubound
