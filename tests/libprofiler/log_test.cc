// SPDX-License-Identifier: Apache-2.0
//
// What the injected half says, and how often.
#include "libprofiler/log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace gpubound {
namespace {

std::string Said(const char* text) {
  testing::internal::CaptureStderr();
  LogOnce("%s", text);
  return testing::internal::GetCapturedStderr();
}

TEST(LogTest, ALineIsPrefixedAndEnded) { EXPECT_EQ(Said("hello"), "gpubound: hello\n"); }

TEST(LogTest, TheSameTextIsSaidOnce) {
  EXPECT_FALSE(Said("once").empty());
  EXPECT_TRUE(Said("once").empty());
  EXPECT_FALSE(Said("once more").empty());
}

TEST(LogTest, ControlCharactersCannotForgeASecondLine) {
  EXPECT_EQ(Said("a\nb\033[31mc\td"), "gpubound: a b [31mc d\n");
}

TEST(LogTest, ALongTextIsCut) {
  const std::string line = Said(std::string(5000, 'x').c_str());
  EXPECT_LE(line.size(), 1024u);
  EXPECT_EQ(line.back(), '\n');
}

TEST(LogTest, TheProgramsErrnoIsKept) {
  errno = EAGAIN;
  Said("errno");
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace gpubound
