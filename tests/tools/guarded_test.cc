// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/guarded.h"

#include <gtest/gtest.h>

#include <new>

namespace gpubound {
namespace {

TEST(GuardedTest, WhatIsThrownIsSaidAndEndsNothing) {
  testing::internal::CaptureStderr();
  Guarded("recording the run", "/tmp/run", [] { throw std::bad_alloc(); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gpubound: recording the run /tmp/run: found an internal error: std::bad_alloc.\n");
}

TEST(GuardedTest, WhatDoesNotThrowIsDone) {
  int done = 0;
  Guarded("recording the run", "/tmp/run", [&] { ++done; });
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace gpubound
