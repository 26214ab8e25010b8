// SPDX-License-Identifier: Apache-2.0
//
// What is said of the process: facts that are read from texts of others.
#include "libprofiler/process_info.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "proto/rank_variables.h"

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

TEST(MachineOfAProcessTest, IsToldByTheKernel) {
  EXPECT_EQ(BootId().size(), 36u) << BootId();
  EXPECT_NE(PidNamespace(), 0);
}

class OwnRankTest : public testing::Test {
 protected:
  OwnRankTest() {
    for (const RankVariables& names : kRankVariables) {
      unsetenv(names.rank);
      unsetenv(names.size);
    }
  }
  ~OwnRankTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  void Set(const char* name, const char* value) {
    setenv(name, value, 1);
    set_.emplace_back(name);
  }

 private:
  std::vector<std::string> set_;
};

TEST_F(OwnRankTest, IsWhatTheLauncherSays) {
  EXPECT_FALSE(OwnRank());
  Set("SLURM_PROCID", "5");
  EXPECT_FALSE(OwnRank()) << "a job script is no rank of its job";
  Set("SLURM_STEP_NUM_TASKS", "8");
  ASSERT_TRUE(OwnRank());
  EXPECT_EQ(OwnRank()->rank, 5);
  EXPECT_EQ(OwnRank()->world_size, 8);
  Set("RANK", "1");
  Set("WORLD_SIZE", "2");
  EXPECT_STREQ(OwnRank()->variable, "RANK") << "which torchrun sets within a task of Slurm";
}

TEST_F(OwnRankTest, IsNothingThatCannotBe) {
  Set("WORLD_SIZE", "2");
  for (const char* const rank : {"", "x", "1x", "-1", "2", "99999999999999999999"}) {
    Set("RANK", rank);
    EXPECT_FALSE(OwnRank()) << rank;
  }
}

}  // namespace
}  // namespace gpubound
