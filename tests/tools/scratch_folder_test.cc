// SPDX-License-Identifier: Apache-2.0
//
// A folder goes with its owner, whichever way that goes.
#include "tools/launch/scratch_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Whether it goes before a watcher could be called dead.
bool Vanishes(const std::string& path) {
  for (int tries = 0; tries < 3000 && fs::exists(path); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !fs::exists(path);
}

TEST(ScratchFolderTest, GoesWithTheObject) {
  std::string path;
  {
    const ScratchFolder folder;
    ASSERT_TRUE(folder.Made().ok());
    path = folder.path();
    std::ofstream(folder.File("trace")) << "bytes";
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a watcher is left";
}

// As of a daemon. Its watcher, mistaken, would have removed it within milliseconds.
TEST(ScratchFolderTest, StaysWhereStandardStreamsAreClosed) {
  const pid_t owner = fork();
  if (owner == 0) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
    const ScratchFolder folder;
    const bool printed = write(STDOUT_FILENO, "text", 4) == 4;
    for (int tries = 0; tries < 30 && fs::exists(folder.path()); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    _exit(!printed && fs::exists(folder.path()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(owner, &status, 0), owner);
  EXPECT_EQ(status, 0);
}

TEST(ScratchFolderTest, GoesWithAProcessThatIsKilled) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t owner = fork();
    if (owner == 0) {
      const ScratchFolder outer;
      const ScratchFolder folder;
      std::ofstream(folder.File("trace")) << "bytes";
      const std::string paths = outer.path() + "\n" + folder.path() + "\n";
      if (write(ends[1], paths.data(), paths.size()) < 0) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    std::string paths;
    char byte = 0;
    while (std::count(paths.begin(), paths.end(), '\n') < 2 && read(ends[0], &byte, 1) == 1) {
      paths += byte;
    }
    close(ends[0]);
    const size_t middle = paths.find('\n');
    ASSERT_NE(middle, std::string::npos);
    kill(owner, signal);
    ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
    EXPECT_TRUE(Vanishes(paths.substr(0, middle))) << signal;
    EXPECT_TRUE(Vanishes(paths.substr(middle + 1, paths.size() - middle - 2))) << signal;
  }
}

}  // namespace
}  // namespace gpubound
