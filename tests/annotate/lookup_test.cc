// SPDX-License-Identifier: Apache-2.0
//
// How a program into which nothing was preloaded looks for a collector.
#include <gmock/gmock.h>
#include <gpubound/annotate.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace gpubound {
namespace {

class LookupTest : public testing::Test {
 protected:
  LookupTest() {
    gpubound_table_word_ = GPUBOUND_TABLE_UNKNOWN_;
    unsetenv("GPUBOUND_LIBRARY");
  }
  ~LookupTest() override { unsetenv("GPUBOUND_LIBRARY"); }

  static void SetLibrary(const char* path) { setenv("GPUBOUND_LIBRARY", path, 1); }
  static bool FoundACollector() { return gpubound_table_() != nullptr; }
};

TEST_F(LookupTest, WithoutACollectorEveryAnnotationIsANoOp) {
  GPUBOUND_OPERATION("absent");
  GPUBOUND_PHASE("absent");
  GPUBOUND_STEP(1);
  const Operation named("absent");
  EXPECT_EQ(gpubound_begin_operation("absent"), 0u);
  EXPECT_EQ(gpubound_hand_over(), 0u);
  EXPECT_FALSE(FoundACollector());
}

TEST_F(LookupTest, GpuboundLibraryNamesTheCollector) {
  SetLibrary(GPUBOUND_TEST_COLLECTOR);
  EXPECT_TRUE(FoundACollector());
  EXPECT_NE(gpubound_begin_operation("through the variable"), 0u);
}

TEST_F(LookupTest, AnEmptyGpuboundLibraryNamesNothing) {
  SetLibrary("");
  EXPECT_FALSE(FoundACollector());
}

TEST_F(LookupTest, AMissingLibraryIsSilentAndLeavesErrnoAlone) {
  SetLibrary("/nowhere/libgpubound.so");
  errno = ERANGE;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(FoundACollector());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(errno, ERANGE);
}

TEST_F(LookupTest, ALibraryWithoutTheTableNamesNothing) {
  SetLibrary("libm.so.6");
  EXPECT_FALSE(FoundACollector());
}

TEST_F(LookupTest, TheAnswerIsKept) {
  EXPECT_FALSE(FoundACollector());
  SetLibrary(GPUBOUND_TEST_COLLECTOR);
  EXPECT_FALSE(FoundACollector());
}

}  // namespace
}  // namespace gpubound
