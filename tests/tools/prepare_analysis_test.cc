// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/prepare_analysis.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

// As where somebody cuts a run's file while it is read.
int ReadBehindTheEnd() {
  std::string path = testing::TempDir() + "prepare_analysis_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0 || ftruncate(file, 4096) != 0) return -1;
  unlink(path.c_str());
  const auto* const bytes =
      static_cast<const volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0));
  if (bytes == MAP_FAILED || ftruncate(file, 0) != 0) return -1;
  return bytes[0];
}

TEST(PrepareAnalysisDeathTest, AFileThatIsCutMeanwhileIsUnreadable) {
  EXPECT_EXIT(
      {
        PrepareAnalysisOfMapped();
        ReadBehindTheEnd();
      },
      testing::ExitedWithCode(kExitUnreadable), "gpubound: reading a run: found .*cannot be read");
}

}  // namespace
}  // namespace gpubound
