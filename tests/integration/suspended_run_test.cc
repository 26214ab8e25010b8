// SPDX-License-Identifier: Apache-2.0
//
// A loop of which some iterations run without their scopes being recorded, through the shipped
// command, to the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

constexpr const char* kIterations = "320";

class SuspendedRun : public CommandRun {
 protected:
  SuspendedRun() { runner().Set("GPUBOUND_IN_RUN_CALIBRATION", "1"); }

  void Train(std::vector<std::string> options = {}) {
    std::vector<std::string> words = {"run", "-q", "-o", run_path()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", GPUBOUND_TEST_VICTIM, "train", kIterations});
    const Outcome outcome = Gpubound(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  }
  static int64_t Suspended(const Json& report) {
    for (const Json& entry : report["ledger"]) {
      if (entry["counter"] == "iterations_suspended") return entry["value"];
    }
    return 0;
  }
};

TEST_F(SuspendedRun, ItsTimeIsARowOfItsOwnAndEverythingAddsUp) {
  Train();
  const Json report = Report();
  ExpectExactPartition(report);
  // One in each whole hundred after the first; those of the third may lie behind the last step.
  EXPECT_GE(Suspended(report), 2);
  EXPECT_LE(Suspended(report), 3);
  EXPECT_GT(RowOf(report["processes"][0], "(suspended)")["wall_ns"].get<int64_t>(), 0);
}

TEST_F(SuspendedRun, EveryIterationIsRecordedOnRequest) {
  Train({"--no-in-run-calibration"});
  const Json report = Report();
  EXPECT_EQ(Suspended(report), 0);
  for (const Json& row : report["processes"][0]["operations"]) {
    EXPECT_NE(row["operation"], "(suspended)");
  }
}

}  // namespace
}  // namespace gpubound
