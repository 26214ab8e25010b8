// SPDX-License-Identifier: Apache-2.0
#include "tools/console/help_text.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(HelpTextTest, LinesFlowUntilASentenceEnds) {
  EXPECT_EQ(Reflowed("one two\nthree.\nfour", 80), "one two three.\nfour\n");
  EXPECT_EQ(Reflowed("one two\nthree four", 11), "one two\nthree four\n");
}

TEST(HelpTextTest, WhatIsSetApartStaysSo) {
  EXPECT_EQ(Reflowed("one\n\ntwo", 80), "one\n\ntwo\n");
  EXPECT_EQ(Reflowed("like\n  this one\nthis", 9), "like\n  this\n  one\nthis\n");
}

TEST(HelpTextTest, LongLinesGoOnFurtherIn) {
  EXPECT_EQ(Wrapped("one two\n  - three four", 9), "one two\n  - three\n    four\n");
}

}  // namespace
}  // namespace gpubound
