// SPDX-License-Identifier: Apache-2.0
//
// `gpubound run --duration`: the recording ends in every process of the run, the program goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNsPerSecond = 1'000'000'000;

class DurationTest : public CommandRun {
 protected:
  Outcome ProfileFor(const char* duration, const std::vector<std::string>& command) {
    std::vector<std::string> words = {"run", "-q", "-o", run_path(), "--duration", duration, "--"};
    words.insert(words.end(), command.begin(), command.end());
    return Gpubound(words);
  }
  // How long the launcher saw the program run.
  int64_t RanNs() {
    const Json record = RunRecordJson();
    return record["end_monotonic_ns"].get<int64_t>() - record["start_monotonic_ns"].get<int64_t>();
  }
};

TEST_F(DurationTest, WhatCameBeforeIsCompleteAndTheProgramRunsToItsEnd) {
  const Outcome outcome = ProfileFor("1", {GPUBOUND_TEST_VICTIM, "steady", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("trained 3"));
  const Json report = Report();
  ExpectExactPartition(report);
  ASSERT_EQ(report["processes"].size(), 1u);
  const Json& process = report["processes"][0];
  const int64_t span_ns = process["span_ns"];
  EXPECT_LT(span_ns, RanNs() - kNsPerSecond) << "two seconds of three are not recorded";
  EXPECT_GT(process["gpu_busy_ns"].get<int64_t>(), 0);
  // What still ran when CUPTI was given up.
  EXPECT_LT(UnknownNsOf(process), process["gpu_busy_ns"].get<int64_t>() / 4);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::process_not_closed), 0);
  EXPECT_THAT(Gpubound({"report", run_path()}).out, HasSubstr("recording ended as asked"));
}

// Then the rest of the program costs what it costs without us.
TEST_F(DurationTest, AfterwardsCuptiListensToNothing) {
  const Outcome outcome = ProfileFor("500ms", {GPUBOUND_TEST_VICTIM, "left_alone", "20"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  unsigned before[3] = {};
  unsigned after[3] = {};
  ASSERT_EQ(std::sscanf(outcome.out.c_str(), "listening %u %u %u\nlistening %u %u %u", &before[0],
                        &before[1], &before[2], &after[0], &after[1], &after[2]),
            6)
      << outcome.Describe();
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(before[i], 0u);
    EXPECT_EQ(after[i], 0u);
  }
}

TEST_F(DurationTest, AProcessThatEndsBeforeIsAsEver) {
  const Outcome outcome = ProfileFor("10m", {GPUBOUND_TEST_VICTIM, "train", "20"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  ExpectExactPartition(Report());
  EXPECT_THAT(Gpubound({"report", run_path()}).out,
              ::testing::Not(HasSubstr("recording ended as asked")));
}

TEST_F(DurationTest, WhatStartsAfterwardsIsNotRecorded) {
  const std::string script = std::string(GPUBOUND_TEST_VICTIM) + " annotate 3; sleep 1.5; " +
                             GPUBOUND_TEST_VICTIM + " annotate 3";
  const Outcome outcome = ProfileFor("1s", {"/bin/sh", "-c", script});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(Report()["processes"].size(), 1u);
}

TEST_F(DurationTest, WhereItIsOverBeforeAnythingHappenedThatIsSaid) {
  const Outcome outcome =
      Gpubound({"run", "-o", run_path(), "--duration", "500ms", "--", "/bin/sh", "-c",
                std::string("sleep 1; ") + GPUBOUND_TEST_VICTIM + " annotate 3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("--duration was over"));
}

TEST_F(DurationTest, EveryProcessOfTheRunEndsItsRecordingThen) {
  const Outcome outcome = ProfileFor("1", {"/bin/sh", "-c",
                                           std::string(GPUBOUND_TEST_VICTIM) + " steady 3 & " +
                                               GPUBOUND_TEST_VICTIM + " steady 3; wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 2u);
  for (const Json& process : report["processes"]) {
    EXPECT_LT(process["span_ns"].get<int64_t>(), RanNs() - kNsPerSecond);
  }
}

}  // namespace
}  // namespace gpubound
