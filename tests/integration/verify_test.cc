// SPDX-License-Identifier: Apache-2.0
//
// `gpubound verify`: programs with the profiler and without, and the ones that cannot be compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

// One calibration serves all of these.
class VerifyRun : public CommandRun {
 protected:
  static void SetUpTestSuite() { cache_ = std::make_unique<TemporaryFolder>(); }
  static void TearDownTestSuite() { cache_ = nullptr; }
  VerifyRun() { runner().Set("XDG_CACHE_HOME", cache_->path()); }

  Outcome Verify(std::vector<std::string> options) {
    options.insert(options.begin(), "verify");
    options.insert(options.end(), {"--", GPUBOUND_TEST_VICTIM, "annotate", "1000"});
    return Gpubound(options);
  }

 private:
  static std::unique_ptr<TemporaryFolder> cache_;
};
std::unique_ptr<TemporaryFolder> VerifyRun::cache_;

TEST_F(VerifyRun, PrintsSlowdownAndResidualOfEachRound) {
  const Outcome outcome = Verify({"--rounds", "6", "--seed", "5"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("seed 5"));
  EXPECT_THAT(outcome.out, HasSubstr("slowdown"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("residual +[+-][0-9.]+ %   95 %: "));
}

// A second of sleep, which takes no longer on a busy machine, so that what is not known of start
// and end of a process is a part of it; under the thread sanitizer these take a second themselves.
TEST_F(VerifyRun, PassesWithinTheLimit) {
  const std::string steps = kThreadSanitizer ? "500" : "100";
  const Outcome outcome = Gpubound({"verify", "--rounds", "6", "--limit", "100", "--",
                                    GPUBOUND_TEST_VICTIM, "steps_slowly", steps});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("passed"));
}

TEST_F(VerifyRun, DoesNotPassWhereNothingIsDecided) {
  const Outcome outcome = Verify({"--rounds", "1", "--limit", "100"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("NOT DECIDED"));
}

TEST_F(VerifyRun, PrintsJson) {
  const Json json = Json::parse(Verify({"--rounds", "2", "--json"}).out, nullptr, false);
  EXPECT_EQ(json["format"], "gpubound.verify.v1");
  ASSERT_EQ(json["rounds"].size(), 2u);
  EXPECT_GT(json["rounds"][0]["plain_ns"], 0);
  EXPECT_TRUE(json["residual"]["low"].is_null());
  EXPECT_TRUE(json["limit"].is_null());
  EXPECT_EQ(json["passed"], true);
}

TEST_F(VerifyRun, LetsBothRunsOfARoundTakeTurns) {
  const Json json =
      Json::parse(Verify({"--rounds", "1", "--turns", "10", "--json"}).out, nullptr, false);
  EXPECT_EQ(json["turn_ms"], 10);
  ASSERT_EQ(json["rounds"].size(), 1u);
  EXPECT_GT(json["rounds"][0]["plain_ns"], 0);
  EXPECT_LT(json["rounds"][0]["corrected_ns"], json["rounds"][0]["profiled_ns"]);
}

TEST_F(VerifyRun, InTurnsTooACommandThatFailsIsRefused) {
  const Outcome outcome = Gpubound({"verify", "--rounds", "1", "--turns", "10", "--", "/bin/sh",
                                    "-c", "test -z \"$GPUBOUND_RUN\" || { echo no >&2; exit 9; }"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("  no\n"));
  EXPECT_THAT(outcome.err, HasSubstr("exit status 9 with the profiler"));
}

// The warm-up ends at once; of the two that take turns each writes down who it is and sleeps.
TEST_F(VerifyRun, LeavesNobodyBehindWhereItIsInterrupted) {
  const std::string warm = File("warm");
  const std::string pids = File("pids");
  const std::string script = "test -e " + warm + " || { : > " + warm + "; exit 0; }; echo $$ >> " +
                             pids + "; while :; do sleep 0.01; done";
  const Outcome outcome =
      runner().Run({"/usr/bin/timeout", "--kill-after=20", "5", GPUBOUND_TEST_COMMAND, "verify",
                    "--turns", "10", "--", "/bin/sh", "-c", script});
  EXPECT_EQ(outcome.exit_code, 124) << outcome.Describe();
  std::istringstream lines(ReadText(pids));
  int count = 0;
  for (int pid = 0; lines >> pid; ++count) EXPECT_EQ(kill(pid, 0), -1) << pid << " lives";
  EXPECT_EQ(count, 2);
}

TEST_F(VerifyRun, RefusesACommandThatFailsAndShowsWhatItSaidLast) {
  const Outcome outcome =
      Gpubound({"verify", "--", "/bin/sh", "-c", "echo 'no level \033[31m' >&2; exit 9"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("  no level \\x1b[31m\n"));
  EXPECT_THAT(outcome.err, HasSubstr("exit status 9 without the profiler"));
}

// A parent may have left SIGCHLD ignored; then the kernel keeps nothing to wait for.
TEST_F(VerifyRun, TellsHowACommandEndsWhereTheEndOfChildrenIsIgnored) {
  const Outcome outcome =
      runner().Run({"/usr/bin/env", "--ignore-signal=CHLD", GPUBOUND_TEST_COMMAND, "verify",
                    "--rounds", "1", "--", "/bin/sh", "-c", "exit 9"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("exit status 9 without the profiler"));
}

TEST_F(VerifyRun, SaysThatACommandFailsOnlyInARun) {
  const Outcome outcome =
      Gpubound({"verify", "--rounds", "1", "--", "/bin/sh", "-c", "test -z \"$GPUBOUND_RUN\""});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("exit status 1 with the profiler"));
  EXPECT_THAT(outcome.err, HasSubstr("wrote nothing on stderr"));
}

TEST_F(VerifyRun, PlainRunsFindThePythonPackageToo) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "extension with the thread sanitizer";
  runner().Unset("PYTHONPATH");
  const Outcome outcome =
      Gpubound({"verify", "--rounds", "1", "--", GPUBOUND_TEST_PYTHON, "-c",
                "import gpubound\nwith gpubound.operation('work'): sum(range(100000))"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("residual"));
}

TEST_F(VerifyRun, BothRunsHaveWhatTheUserPreloads) {
  runner().Set("LD_PRELOAD", "libm.so.6");
  const std::string log = File("preloads");
  const Outcome outcome = Gpubound({"verify", "--rounds", "1", "--seed", "1", "--", "/bin/sh", "-c",
                                    "echo \"$GPUBOUND_DISABLE $LD_PRELOAD\" >> " + log +
                                        "; exec " GPUBOUND_TEST_VICTIM " annotate 1000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(ReadText(log), HasSubstr("1 libm.so.6\n"));
  EXPECT_THAT(ReadText(log), HasSubstr("0 libm.so.6:" GPUBOUND_TEST_SHIM "\n"));
}

TEST_F(VerifyRun, BehindAWrapperCorrectsTheProgramThatItStarts) {
  const Outcome outcome = Gpubound({"verify", "--rounds", "1", "--json", "--", "/bin/sh", "-c",
                                    GPUBOUND_TEST_VICTIM " annotate 1000; true"});
  const Json json = Json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.Describe();
  EXPECT_LT(json["rounds"][0]["corrected_ns"], json["rounds"][0]["profiled_ns"]);
}

TEST_F(VerifyRun, SaysWhyARunCannotBeCorrected) {
  const Outcome outcome = Gpubound(
      {"verify", "--rounds", "1", "--", "/bin/sh", "-c",
       GPUBOUND_TEST_VICTIM " annotate 100000; test -z \"$GPUBOUND_RUN\" || " GPUBOUND_TEST_COMMAND
                            " compact --window 1ms \"$GPUBOUND_RUN\""});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("older detail was thinned"));
}

TEST_F(VerifyRun, RefusesACommandThatRecordsNothing) {
  const Outcome outcome = Gpubound({"verify", "--rounds", "1", "--", "/bin/true"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("recorded nothing"));
}

TEST_F(VerifyRun, RefusesACommandThatIsNotThere) {
  const Outcome outcome = Gpubound({"verify", "--", "/nonexistent/train"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/train"));
}

TEST_F(VerifyRun, IsWrongUseWithoutACommandOrRounds) {
  EXPECT_EQ(Gpubound({"verify"}).exit_code, 2);
  EXPECT_EQ(Gpubound({"verify", "--rounds", "0", "--", "/bin/true"}).exit_code, 2);
  EXPECT_EQ(Gpubound({"verify", "--limit", "-1", "--", "/bin/true"}).exit_code, 2);
  EXPECT_EQ(Gpubound({"verify", "--turns", "5", "--", "/bin/true"}).exit_code, 2);
  EXPECT_EQ(Gpubound({"verify", "--limitt", "1", "--", "/bin/true"}).exit_code, 2);
}

}  // namespace
}  // namespace gpubound
