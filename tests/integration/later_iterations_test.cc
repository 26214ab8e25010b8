// SPDX-License-Identifier: Apache-2.0
//
// A loop whose CUDA calls cost twice what calibration says, recorded for a part of it: the rest of
// the same run tells, through the shipped commands, to the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

class LaterIterationsRun : public CommandRun {
 protected:
  LaterIterationsRun() { runner().Set("GPUBOUND_IN_RUN_CALIBRATION", "1"); }

  // So much lies within every call that is recorded, of which CUPTI takes |entry_percent| to enter
  // it.
  void InjectIntoCalls(int ns, int entry_percent) {
    const Json overhead = {{"api_ns", ns}, {"launch_ns", ns}, {"entry_percent", entry_percent}};
    runner().Set("GPUBOUND_SIM_SCRIPT", Json{{"overhead", overhead}}.dump());
  }
  void CalibrateThenTrain(const char* steps) {
    InjectIntoCalls(100'000, 20);
    ASSERT_EQ(Gpubound({"calibrate", "--seconds", "4", "--python", ""}).exit_code, 0);
    InjectIntoCalls(160'000, 12);  // entries tell nothing of that
    const Outcome outcome = Gpubound({"run", "-q", "-o", run_path(), "--steps", steps, "--",
                                      GPUBOUND_TEST_VICTIM, "train", "6000"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  }
};

// The injected cost is far above what a busy machine does to an iteration, and the bounds are wide.
TEST_F(LaterIterationsRun, TellWhatCallsCostInThisProgram) {
  CalibrateThenTrain("20:220");
  const Json corrected = Report()["processes"][0]["corrected"];
  ASSERT_TRUE(corrected.is_object());
  const Json check = corrected["in_run_calibration"];
  const Json& later = check["later"];
  ASSERT_TRUE(later.is_object());
  EXPECT_EQ(later["of"], "CUDA calls");
  EXPECT_TRUE(later["used"]) << later;
  EXPECT_GT(later["iterations"], 100);
  EXPECT_GT(later["factor"], 1.2);
  EXPECT_LT(later["factor"], 2.1);
  EXPECT_GT(later["recorded_ns"], later["calibrated_ns"]);
  EXPECT_GT(later["calibrated_ns"], later["later_ns"]);
  EXPECT_THAT(check["unchecked"].dump(), Not(HasSubstr("CUDA calls")));
  EXPECT_THAT(Gpubound({"report", run_path()}).out,
              testing::ContainsRegex("behind the[ \n]+recording"));
}

TEST_F(LaterIterationsRun, TellNothingWhereTheyAreFew) {
  CalibrateThenTrain(":5995");
  const Json report = Report();
  EXPECT_TRUE(report["processes"][0]["corrected"]["in_run_calibration"]["later"].is_null());
}

}  // namespace
}  // namespace gpubound
