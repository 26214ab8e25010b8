// SPDX-License-Identifier: Apache-2.0
//
// The conversation with a calibration program, which interpreter is measured, and what verification
// says. Whole calibrations are in tests/integration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/calibrate/calibration_peer.h"
#include "tools/calibrate/run_calibration.h"
#include "tools/launch/run_environment.h"
#include "tools/verify/verify.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

// A program whose part a shell script plays.
class CalibrationPeerTest : public testing::Test {
 protected:
  void Start(const std::string& script) {
    auto started = CalibrationPeer::Start({"/bin/sh", "-c", script}, OwnEnvironment());
    ASSERT_TRUE(started.ok()) << started.error().ToString();
    peer_ = std::move(started).value();
  }
  std::string ErrorOf(const std::string& name) {
    const auto answer = peer_->Run(name, 10);
    return answer.ok() ? "" : answer.error().ToString();
  }
  std::unique_ptr<CalibrationPeer> peer_;
};

TEST_F(CalibrationPeerTest, AnswersWithATime) {
  Start("while read verb name count; do echo $count.5; done");
  EXPECT_DOUBLE_EQ(peer_->Run("scope", 7)->ns, 7.5);
  EXPECT_DOUBLE_EQ(peer_->Run("scope", 8)->ns, 8.5);
  EXPECT_DOUBLE_EQ(peer_->Run("scope", 8)->alone_ns, 8.5);
  EXPECT_TRUE(peer_->Finish());
}

TEST_F(CalibrationPeerTest, TellsOfOtherWorkInASecondNumber) {
  Start("while read verb name count; do echo $count.5 -3; done");
  EXPECT_DOUBLE_EQ(peer_->Run("call", 7)->ns, 7.5);
  EXPECT_DOUBLE_EQ(peer_->Run("call", 7)->alone_ns, -3);
}

TEST_F(CalibrationPeerTest, RefusesWithAReason) {
  Start("read line; echo no $line");
  EXPECT_EQ(peer_->Run("scope", 7)->refusal, "run scope 7");
}

// nproc counts the processors that it may have, and inherits those of the shell.
TEST_F(CalibrationPeerTest, WorksOnTheProcessorsThatItIsHeldOn) {
  Start("while read line; do nproc; done");
  const double all = peer_->Run("scope", 1)->ns;
  peer_->StayOn(Processors::Current());
  EXPECT_DOUBLE_EQ(peer_->Run("scope", 1)->ns, 1);
  peer_->StayOn(Processors::Allowed());
  EXPECT_DOUBLE_EQ(peer_->Run("scope", 1)->ns, all);
  EXPECT_TRUE(peer_->Finish());
  peer_->StayOn(Processors::Current());  // it has ended: nobody is held
}

TEST_F(CalibrationPeerTest, ThatTalksNonsenseIsAnError) {
  Start(
      "for answer in '12 apples' '12 ' '1 2 3' '1,2' ''; do read line; echo \"$answer\"; done; "
      "cat");
  EXPECT_THAT(ErrorOf("scope"), HasSubstr("12 apples"));
  for (int i = 0; i < 4; ++i) EXPECT_THAT(ErrorOf("scope"), HasSubstr("a number of ns")) << i;
}

TEST_F(CalibrationPeerTest, ThatEndsIsAnErrorAndNotTheEndOfUs) {
  Start("exit 3");
  EXPECT_THAT(ErrorOf("scope"), Not(HasSubstr("a number of ns")));
  EXPECT_NE(ErrorOf("scope"), "");
  EXPECT_FALSE(peer_->Finish());
}

TEST_F(CalibrationPeerTest, ThatIsNotThereIsAnError) {
  const auto started = CalibrationPeer::Start({"/nonexistent/program"}, OwnEnvironment());
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().ToString(), HasSubstr("/nonexistent/program"));
}

Run RunOf(bool python, const std::vector<std::string>& command) {
  Run run;
  run.processes.emplace_back();
  run.processes[0].python = python;
  run.processes[0].command = command;
  return run;
}

TEST(InterpreterOfTest, IsTheOneThatTheCommandNames) {
  EXPECT_EQ(InterpreterOf(RunOf(true, {"/v/bin/python3.12", "x.py"})), "/v/bin/python3.12");
}

TEST(InterpreterOfTest, MayBeFreeThreaded) {
  EXPECT_EQ(InterpreterOf(RunOf(true, {"/v/bin/python3.14t", "x.py"})), "/v/bin/python3.14t");
}

TEST(InterpreterOfTest, IsNeverTheProgramThatEmbedsOne) {
  EXPECT_EQ(InterpreterOf(RunOf(true, {"./train"})), "python3");
  EXPECT_EQ(InterpreterOf(RunOf(true, {"python-config"})), "python3");
  EXPECT_EQ(InterpreterOf(RunOf(true, {"python3-test"})), "python3");
  EXPECT_EQ(InterpreterOf(RunOf(true, {})), "python3");
}

TEST(InterpreterOfTest, IsNoneWherePythonDoesNotRun) {
  EXPECT_EQ(InterpreterOf(RunOf(false, {"python3"})), "");
  EXPECT_EQ(InterpreterOf(gpubound::Run()), "");
}

Verification Verified(double corrected) {
  Verification verification;
  verification.command = {"train"};
  verification.rounds = {{1e9, 1.1e9, corrected * 1e9, 0, 2e9, 2.04e9}};
  verification.cpu = {1.02, RatioRange{1.01, 1.03}};
  verification.slowdown = {1.1, RatioRange{1.05, 1.15}};
  verification.corrected = {corrected, RatioRange{corrected - 0.01, corrected + 0.01}};
  return verification;
}

TEST(VerificationTest, PrintsChangesInPercent) {
  const std::string text = RenderVerification(Verified(0.985), -1);
  EXPECT_THAT(text, HasSubstr("slowdown    +10.00 %   95 %: +5.00 % to +15.00 %"));
  EXPECT_THAT(text, HasSubstr("residual     -1.50 %   95 %: -2.50 % to -0.50 %"));
  EXPECT_THAT(text, Not(HasSubstr("limit")));
}

TEST(VerificationTest, PrintsWhatTheProfilerTakesOfTheProcessor) {
  EXPECT_THAT(RenderVerification(Verified(1), -1),
              HasSubstr("CPU time     +2.00 %   95 %: +1.00 % to +3.00 %"));
}

TEST(VerificationTest, SaysThatTheMachineIsBusyWhereEqualRunsDiffer) {
  Verification verification = Verified(1);
  EXPECT_THAT(RenderVerification(verification, -1), Not(HasSubstr("differ by")));
  verification.rounds.push_back({1.5e9, 1.1e9, 1e9, 0, 2e9, 2e9});
  EXPECT_THAT(RenderVerification(verification, -1), HasSubstr("differ by 50 %"));
}

TEST(VerificationTest, PassesOrFailsWithTheWholeInterval) {
  EXPECT_THAT(RenderVerification(Verified(0.985), 0.03), HasSubstr("passed"));
  EXPECT_THAT(RenderVerification(Verified(0.975), 0.01), HasSubstr("FAILED"));
  EXPECT_THAT(RenderVerification(Verified(1.025), 0.01), HasSubstr("FAILED"));
}

TEST(VerificationTest, DecidesNothingWhereTheIntervalReachesAcrossTheLimit) {
  for (const double ratio : {0.985, 1.015, 1.025}) {
    const std::string text = RenderVerification(Verified(ratio), 0.02);
    EXPECT_THAT(text, HasSubstr("NOT DECIDED")) << ratio;
    EXPECT_THAT(text, Not(HasSubstr("passed"))) << ratio;
    const auto json = nlohmann::json::parse(RenderVerificationJson(Verified(ratio), 0.02));
    EXPECT_TRUE(json["passed"].is_null()) << ratio;
    EXPECT_EQ(json["verdict"], "not decided") << ratio;
  }
}

// Rounds of which each is a little slower than the one before.
Verification OfRounds(int rounds, double start_and_end_error_ns) {
  Verification verification;
  for (int i = 0; i < rounds; ++i) {
    verification.rounds.push_back(
        {1e9, 1.1e9, 1e9 + 1e6 * i, start_and_end_error_ns, 2e9, 2e9 + 1e6 * i});
  }
  Summarise(7, &verification);
  return verification;
}

TEST(VerificationTest, HasNoIntervalAndDecidesNothingBelowSixRounds) {
  for (const int rounds : {1, 5}) {
    const Verification verification = OfRounds(rounds, 0);
    const std::string text = RenderVerification(verification, 0.5);
    EXPECT_THAT(text, HasSubstr("No interval: below 6 rounds"));
    EXPECT_THAT(text, Not(HasSubstr("95 %")));
    EXPECT_THAT(text, HasSubstr("NOT DECIDED"));
    const auto json = nlohmann::json::parse(RenderVerificationJson(verification, 0.5));
    EXPECT_TRUE(json["residual"]["low"].is_null());
    EXPECT_TRUE(json["slowdown"]["high"].is_null());
    EXPECT_TRUE(json["passed"].is_null());
  }
  EXPECT_THAT(RenderVerification(OfRounds(6, 0), 0.5), HasSubstr("95 %"));
  EXPECT_THAT(RenderVerification(OfRounds(6, 0), 0.5), HasSubstr("passed"));
}

TEST(VerificationTest, KnowsTheResidualNoBetterThanStartAndEnd) {
  const Verification sure = OfRounds(6, 0);
  const Verification unsure = OfRounds(6, 1e8);
  EXPECT_LT(sure.corrected.interval->high - sure.corrected.interval->low, 0.01);
  EXPECT_GE(unsure.corrected.interval->high, sure.corrected.ratio + 0.196);
  EXPECT_LE(unsure.corrected.interval->low, sure.corrected.ratio - 0.196);
  EXPECT_EQ(unsure.slowdown.interval->high, sure.slowdown.interval->high);
}

TEST(VerificationTest, SaysWhatMoreRoundsDoNotTell) {
  EXPECT_THAT(RenderVerification(OfRounds(6, 1e8), 0.02),
              HasSubstr("start and the end of a process"));
  EXPECT_THAT(RenderVerification(OfRounds(6, 1e8), -1), HasSubstr("more rounds do not tell"));
  EXPECT_THAT(RenderVerification(OfRounds(6, 0), -1), Not(HasSubstr("more rounds")));
  Verification wide = OfRounds(6, 0);
  wide.corrected.interval = RatioRange{0.9, 1.1};
  EXPECT_THAT(RenderVerification(wide, 0.02), HasSubstr("More --rounds"));
}

TEST(VerificationTest, NoResidualIsBelowAllOfTheTime) {
  EXPECT_EQ(OfRounds(6, 1e10).corrected.interval->low, 0);
}

TEST(VerificationTest, IsJsonWithShares) {
  const auto json = nlohmann::json::parse(RenderVerificationJson(Verified(1.25), 0.02));
  EXPECT_DOUBLE_EQ(json["residual"]["share"], 0.25);
  EXPECT_DOUBLE_EQ(json["residual"]["low"], 0.24);
  EXPECT_DOUBLE_EQ(json["limit"], 0.02);
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["verdict"], "failed");
  EXPECT_EQ(json["rounds"][0]["plain_ns"], 1'000'000'000);
}

}  // namespace
}  // namespace gpubound
