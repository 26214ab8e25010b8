// SPDX-License-Identifier: Apache-2.0
//
// GPUBOUND_LOG=debug: who gets a file, and what a line looks like. Each case is a process of its
// own, since the log of a process begins once.
#include "libprofiler/debug_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/libprofiler/temp_directory.h"

namespace gpubound {
namespace {

class DebugLogTest : public testing::Test {
 protected:
  // Exits with 0 where |body| returns true.
  template <typename Body>
  void InChild(const char* variable, Body body) {
    EXPECT_EXIT(
        {
          setenv("GPUBOUND_LOG", variable, 1);
          StartDebugLog(Run().c_str(), StampNow());
          _exit(body() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
  }
  std::string Run() const { return directory_.path() + "/x.gpubound"; }
  // Of the only log that there is.
  std::string Log() const {
    std::string text;
    if (!std::filesystem::exists(Run())) return text;
    for (const auto& entry : std::filesystem::directory_iterator(Run())) {
      std::ifstream file(entry.path());
      text.append(std::istreambuf_iterator<char>(file), {});
    }
    return text;
  }

  TempDirectory directory_;
};

TEST_F(DebugLogTest, ALineHasTheTimeAndTheThread) {
  InChild("debug", [] {
    DebugLog("device %d", 7);
    return true;
  });
  EXPECT_THAT(Log(), testing::MatchesRegex("0[.][0-9]{6} s, thread [0-9]+: device 7\n"));
}

TEST_F(DebugLogTest, NothingIsWrittenUnlessItIsAskedFor) {
  InChild("", [] {
    DebugLog("device");
    return true;
  });
  EXPECT_FALSE(std::filesystem::exists(Run()));
}

TEST_F(DebugLogTest, AnotherWordIsRefusedOnStderr) {
  EXPECT_EXIT(
      {
        setenv("GPUBOUND_LOG", "loud", 1);
        StartDebugLog(Run().c_str(), StampNow());
        _exit(0);
      },
      testing::ExitedWithCode(0), "GPUBOUND_LOG is 'loud', expected debug; nothing is logged");
  EXPECT_FALSE(std::filesystem::exists(Run()));
}

TEST_F(DebugLogTest, AControlCharacterCannotForgeASecondLine) {
  InChild("debug", [] {
    DebugLog("a\nb");
    return true;
  });
  EXPECT_NE(Log().find(": a b\n"), std::string::npos) << Log();
}

TEST_F(DebugLogTest, AForkChildWritesNothingIntoItsParentsLog) {
  InChild("debug", [] {
    if (fork() == 0) {
      DebugLog("from the child");
      _exit(0);
    }
    DebugLog("from the parent");
    return true;
  });
  EXPECT_EQ(Log().find("from the child"), std::string::npos) << Log();
  EXPECT_NE(Log().find("from the parent"), std::string::npos) << Log();
}

TEST_F(DebugLogTest, TheProgramsErrnoAndDescriptorsStay) {
  InChild("debug", [] {
    const int before = dup(0);
    close(before);
    errno = EAGAIN;
    DebugLog("a line");
    const bool kept = errno == EAGAIN;
    return kept && dup(0) == before;
  });
}

}  // namespace
}  // namespace gpubound
