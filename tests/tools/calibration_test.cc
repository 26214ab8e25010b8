// SPDX-License-Identifier: Apache-2.0
//
// The conversation with a calibration program, which interpreter is measured, and what verification
// says. Whole calibrations are in tests/integration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/calibration_peer.h"
#include "tools/run_calibration.h"
#include "tools/run_environment.h"
#include "tools/verify.h"

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
  EXPECT_TRUE(peer_->Finish());
}

TEST_F(CalibrationPeerTest, RefusesWithAReason) {
  Start("read line; echo no $line");
  EXPECT_EQ(peer_->Run("scope", 7)->refusal, "run scope 7");
}

TEST_F(CalibrationPeerTest, ThatTalksNonsenseIsAnError) {
  Start("read line; echo 12 apples; read line; echo; cat");
  EXPECT_THAT(ErrorOf("scope"), HasSubstr("12 apples"));
  EXPECT_THAT(ErrorOf("scope"), HasSubstr("a number of ns"));
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

TEST(InterpreterOfTest, IsNeverTheProgramThatEmbedsOne) {
  EXPECT_EQ(InterpreterOf(RunOf(true, {"./train"})), "python3");
  EXPECT_EQ(InterpreterOf(RunOf(true, {"python-config"})), "python3");
  EXPECT_EQ(InterpreterOf(RunOf(true, {})), "python3");
}

TEST(InterpreterOfTest, IsNoneWherePythonDoesNotRun) {
  EXPECT_EQ(InterpreterOf(RunOf(false, {"python3"})), "");
  EXPECT_EQ(InterpreterOf(gpubound::Run()), "");
}

Verification Verified(double corrected) {
  Verification verification;
  verification.command = {"train"};
  verification.rounds = {{1e9, 1.1e9, corrected * 1e9, 2e9, 2.04e9}};
  verification.cpu = {1.02, 1.01, 1.03};
  verification.slowdown = {1.1, 1.05, 1.15};
  verification.corrected = {corrected, corrected - 0.01, corrected + 0.01};
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
  verification.rounds.push_back({1.5e9, 1.1e9, 1e9, 2e9, 2e9});
  EXPECT_THAT(RenderVerification(verification, -1), HasSubstr("differ by 50 %"));
}

TEST(VerificationTest, JudgesByTheSizeOfTheResidual) {
  EXPECT_THAT(RenderVerification(Verified(0.985), 0.02), HasSubstr("passed"));
  EXPECT_THAT(RenderVerification(Verified(0.985), 0.01), HasSubstr("FAILED"));
  EXPECT_THAT(RenderVerification(Verified(1.015), 0.01), HasSubstr("FAILED"));
}

TEST(VerificationTest, IsJsonWithShares) {
  const auto json = nlohmann::json::parse(RenderVerificationJson(Verified(1.25), 0.02));
  EXPECT_DOUBLE_EQ(json["residual"]["share"], 0.25);
  EXPECT_DOUBLE_EQ(json["limit"], 0.02);
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["rounds"][0]["plain_ns"], 1'000'000'000);
}

}  // namespace
}  // namespace gpubound
