// SPDX-License-Identifier: Apache-2.0
//
// What a command that is ended by a signal leaves behind, and how it ends. Each test forks.
#include "tools/commands/ending_signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "analysis/output/export/output_file.h"
#include "analysis/output/export/unfinished_outputs.h"
#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Its status for waitpid() once |child| has written a byte into its descriptor and was sent each of
// |signals|.
int StatusAfter(const std::vector<int>& signals, const std::function<void(int)>& child) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    child(ends[1]);
    _exit(1);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  for (const int signal : signals) kill(process, signal);
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  close(ends[0]);
  return status;
}

void Say(int fd) {
  if (write(fd, "!", 1) != 1) _exit(2);
}

[[noreturn]] void WaitForEver() {
  for (;;) pause();
}

TEST(EndingSignalsTest, HalfAnOutputGoesWithTheCommand) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    const int status = StatusAfter({signal}, [&](int ready) {
      const EndingSignals ending(&RemoveUnfinishedOutputs);
      const auto done = OutputFile::Create(folder.File("done.db"), false);
      const auto file = OutputFile::Create(folder.File("run.db"), false);
      const auto tables = OutputFolder::Create(folder.File("tables"), ".csv", false);
      if (!done.ok() || !(*done)->Commit().ok() || !file.ok() || !tables.ok()) _exit(3);
      std::ofstream((*tables)->temporary_path() + "/gpu.csv") << "name\n";
      Say(ready);
      WaitForEver();
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    fs::directory_iterator left(folder.path());
    ASSERT_NE(left, end(left));
    EXPECT_EQ(left->path().filename(), "done.db");
    EXPECT_EQ(++left, end(left));
  }
}

TEST(EndingSignalsTest, WhatIsIgnoredStaysIgnored) {
  const TemporaryFolder folder;
  const int status = StatusAfter({SIGHUP, SIGTERM}, [&](int ready) {
    signal(SIGHUP, SIG_IGN);
    const EndingSignals ending([&] { folder.Write("cleared", ""); });
    Say(ready);
    WaitForEver();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_TRUE(fs::exists(folder.File("cleared")));
}

TEST(EndingSignalsTest, SignalsAreAsBeforeAfterwards) {
  const TemporaryFolder folder;
  const int status = StatusAfter({SIGTERM}, [&](int ready) {
    {
      const EndingSignals ending([&] { folder.Write("cleared", ""); });
    }
    Say(ready);
    WaitForEver();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(fs::exists(folder.File("cleared")));
}

// The trace comes through a pipe whose other end says nothing.
TEST(EndingSignalsTest, AnImportThatIsEndedLeavesNoRun) {
  const TemporaryFolder folder;
  const std::string trace = folder.File("trace");
  ASSERT_EQ(mkfifo(trace.c_str(), 0600), 0);
  const pid_t process = fork();
  if (process == 0) {
    signal(SIGTERM, SIG_DFL);
    ImportRun({trace, "-o", folder.File("run")});
    _exit(4);
  }
  const int fd = open(trace.c_str(), O_WRONLY);  // once it reads
  EXPECT_TRUE(fs::exists(folder.File("run")));
  kill(process, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(fs::exists(folder.File("run")));
  close(fd);
}

}  // namespace
}  // namespace gpubound
