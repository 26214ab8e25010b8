// SPDX-License-Identifier: Apache-2.0
//
// A loop whose launches cost 1.6 times what calibration says, recorded for a part of it: the rest
// of the same run tells, through the shipped commands, to the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

class LaterIterationsRun : public CommandRun {
 protected:
  // So much lies within every launch that is recorded, of which CUPTI takes |entry_percent| to
  // enter it. Not within waits: whether one took long by itself or came back late would be a guess.
  void InjectIntoLaunches(int ns, int entry_percent) {
    const Json overhead = {{"launch_ns", ns}, {"entry_percent", entry_percent}};
    runner().Set("GPUBOUND_SIM_SCRIPT", Json{{"overhead", overhead}}.dump());
  }
  void Calibrate() {
    InjectIntoLaunches(100'000, 20);
    ASSERT_EQ(Gpubound({"calibrate", "--seconds", "4", "--python", ""}).exit_code, 0);
    InjectIntoLaunches(160'000, 12);  // entries tell nothing of that
  }
  // A run that records |steps|: how its costs were checked.
  Json Train(const char* steps) {
    std::filesystem::remove_all(run_path());
    const Outcome outcome = Gpubound({"run", "-q", "-o", run_path(), "--steps", steps, "--",
                                      GPUBOUND_TEST_VICTIM, "train", "6000"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    const Json corrected = Report()["processes"][0]["corrected"];
    EXPECT_TRUE(corrected.is_object());
    return corrected["in_run_calibration"];
  }
};

// On a machine so busy that iterations tell nothing, the run says so, and another one may.
TEST_F(LaterIterationsRun, TellWhatCallsCostInThisProgram) {
  constexpr int kAttempts = 6;
  Calibrate();
  Json check;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    check = Train("20:220");
    if (check["later"].is_object() && check["later"]["used"]) break;
  }
  const Json& later = check["later"];
  ASSERT_TRUE(later.is_object());
  EXPECT_EQ(later["of"], "CUDA calls");
  EXPECT_TRUE(later["used"]) << later;
  EXPECT_GT(later["iterations"], 100);
  EXPECT_GT(later["factor"], 1.3);
  EXPECT_LT(later["factor"], 1.9);
  EXPECT_GT(later["recorded_ns"], later["calibrated_ns"]);
  EXPECT_GT(later["calibrated_ns"], later["later_ns"]);
  EXPECT_THAT(check["unchecked"].dump(), Not(HasSubstr("CUDA calls")));
  EXPECT_THAT(Gpubound({"report", run_path(), "--full"}).out,
              testing::ContainsRegex("after the[ \n]+recording"));
}

TEST_F(LaterIterationsRun, TellNothingWhereTheyAreFew) {
  Calibrate();
  EXPECT_TRUE(Train(":5995")["later"].is_null());
}

}  // namespace
}  // namespace gpubound
