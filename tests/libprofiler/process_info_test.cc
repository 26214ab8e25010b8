// SPDX-License-Identifier: Apache-2.0
//
// What is said of the process: facts that are read from texts of others.
#include "libprofiler/process_info.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(ShortPythonVersionTest, IsTheFirstTwoNumbers) {
  EXPECT_EQ(ShortPythonVersion("3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]"), "3.11");
  EXPECT_EQ(ShortPythonVersion("3.15.0a1+ (main)"), "3.15");
}

// Scopes and calls cost something else there.
TEST(ShortPythonVersionTest, TellsFreeThreadedInterpretersApart) {
  EXPECT_EQ(ShortPythonVersion("3.13.5 experimental free-threading build (main, Aug 2025) [GCC]"),
            "3.13t");
  EXPECT_EQ(ShortPythonVersion("3.14.0 free-threading build (main, Oct 2025) [GCC]"), "3.14t");
}

TEST(ShortPythonVersionTest, IsEmptyForWhatIsNoVersion) { EXPECT_EQ(ShortPythonVersion("x"), ""); }

}  // namespace
}  // namespace gpubound
