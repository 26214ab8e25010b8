// SPDX-License-Identifier: Apache-2.0
//
// `gpubound calibrate` on the simulated device, whose cost is known, and what `gpubound run` makes
// of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "analysis/calibration_file.h"
#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CalibrationRun : public CommandRun {
 protected:
  // `gpubound calibrate` for a few seconds.
  Outcome Calibrate(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"calibrate", "--json", "--seconds", "4"});
    return Gpubound(words);
  }
  static Calibration Parsed(const Outcome& outcome) {
    const Result<Calibration> parsed = ParseCalibration(outcome.out, "stdout");
    if (parsed.ok()) return *parsed;
    ADD_FAILURE() << parsed.error().ToString() << outcome.Describe();
    return {};
  }
  Calibration CalibrationWithOverhead(int api_ns, int launch_ns, int cold_ns = 0) {
    const Json overhead = {
        {"overhead", {{"api_ns", api_ns}, {"launch_ns", launch_ns}, {"cold_ns", cold_ns}}}};
    runner().Set("GPUBOUND_SIM_SCRIPT", overhead.dump());
    return Parsed(Calibrate({"--python", ""}));
  }
  std::string OwnFile() const { return run_path() + "/" + kCalibrationFile; }
  std::vector<std::string> Kept() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(File("cache/gpubound"), ignored)) {
      names.push_back(entry.path().string());
    }
    return names;
  }
};

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
// An interpreter without the thread sanitizer cannot load an extension that has it.
constexpr bool kPythonLoadsTheExtension = !kThreadSanitizer;

TEST_F(CalibrationRun, MeasuresEveryKindOfEvent) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "extension with the thread sanitizer";
  const Outcome outcome = Calibrate({"--python", GPUBOUND_TEST_PYTHON, "--seed", "77"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("seed 77"));
  const Calibration calibration = Parsed(outcome);
  EXPECT_THAT(calibration.missing, IsEmpty());
  EXPECT_EQ(calibration.seed, 77u);
  const CostModel model = ModelOf(calibration);
  for (size_t kind = 0; kind < kCostKindCount; ++kind) {
    EXPECT_GT(model.kinds[kind].samples, 0u) << CostKindName(static_cast<CostKind>(kind));
    EXPECT_GT(model.kinds[kind].total_ns(), 0) << CostKindName(static_cast<CostKind>(kind));
  }
  EXPECT_TRUE(model.api.contains("cudaLaunchKernel"));
  EXPECT_EQ(calibration.machine.device_kind, "simulated");
  EXPECT_EQ(calibration.machine.cupti, "130001");
  EXPECT_FALSE(calibration.machine.python.empty());
}

TEST_F(CalibrationRun, IsKeptForItsOwnerOnly) {
  const Outcome outcome = Calibrate({"--python", ""});
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_EQ(ReadText(Kept()[0]), outcome.out);
  EXPECT_EQ(ModeOf(Kept()[0]), 0600u);
}

// What differs between two calibrations is what was injected into the second. The injected cost is
// far above what a busy machine does to a call, and the bounds are wide: that each call is charged
// with its own cost is tested here, how closely it is estimated on made-up samples.
TEST_F(CalibrationRun, FindsWhatTheDeviceInjectsIntoEachRecordedCall) {
  constexpr int kApiNs = 50'000;
  constexpr int kLaunchNs = 200'000;
  const CostModel without = ModelOf(CalibrationWithOverhead(0, 0));
  const CostModel with = ModelOf(CalibrationWithOverhead(kApiNs, kLaunchNs));
  for (const auto& [function, cost] : with.api) {
    const double injected_ns = function == "cudaLaunchKernel" ? kLaunchNs : kApiNs;
    const double found_ns = cost.total_ns() - without.OfApi(function).total_ns();
    EXPECT_GT(found_ns, 0.7 * injected_ns) << function;
    EXPECT_LT(found_ns, 2 * injected_ns) << function;
    // The stand-in spins between the two time stamps of the call.
    EXPECT_GT(cost.inside_ns, 0.7 * injected_ns) << function;
  }
}

TEST_F(CalibrationRun, FindsWhatACallCostsMoreBehindOtherWork) {
  if (kThreadSanitizer) GTEST_SKIP() << "its work between two calls is other work";
  constexpr int kApiNs = 50'000;
  constexpr int kColdNs = 150'000;
  const CostModel model = ModelOf(CalibrationWithOverhead(kApiNs, kApiNs, kColdNs));
  ASSERT_EQ(model.api_after_other_work.size(), model.api.size());
  for (const auto& [function, cost] : model.api) {
    const Cost& cold = model.OfApiAfterOtherWork(function);
    EXPECT_GT(cost.total_ns(), 0.7 * kApiNs) << function;
    EXPECT_LT(cost.total_ns(), 2 * kApiNs) << function;
    EXPECT_GT(cold.total_ns(), 0.7 * (kApiNs + kColdNs)) << function;
    EXPECT_LT(cold.total_ns(), 2 * (kApiNs + kColdNs)) << function;
    EXPECT_GT(cold.inside_ns, 0.7 * (kApiNs + kColdNs)) << function;
  }
}

TEST_F(CalibrationRun, DoesNotTakeAProcessThatIsSlowerAnywayForACost) {
  constexpr int kApiNs = 20'000;
  const Json overhead = {{"overhead", {{"api_ns", kApiNs}, {"process_ns", 4 * kApiNs}}}};
  runner().Set("GPUBOUND_SIM_SCRIPT", overhead.dump());
  const CostModel model = ModelOf(Parsed(Calibrate({"--python", ""})));
  for (const auto& [function, cost] : model.api) {
    EXPECT_GT(cost.total_ns(), 0.7 * kApiNs) << function;
    EXPECT_LT(cost.total_ns(), 2 * kApiNs) << function;
    EXPECT_GT(cost.inside_ns, 0.7 * kApiNs) << function;
    EXPECT_LT(cost.inside_ns, 2 * kApiNs) << function;
  }
}

// Lives of processes are recorded to their end, which the stand-in's slow flush is a part of.
TEST_F(CalibrationRun, FindsWhatTheEndOfAProcessCosts) {
  constexpr int kFlushNs = 100'000'000;
  runner().Set("GPUBOUND_SIM_SCRIPT", Json({{"overhead", {{"flush_ns", kFlushNs}}}}).dump());
  std::map<std::string, double> found_ns;
  for (const ProcessCost& process : Parsed(Calibrate({"--python", ""})).processes) {
    found_ns[process.condition] = process.cost.total_ns();
  }
  EXPECT_GT(found_ns.at("CUDA"), 0.9 * kFlushNs);
  EXPECT_LT(found_ns.at(""), 0.9 * kFlushNs) << "without CUDA there is none";
}

TEST_F(CalibrationRun, SaysWhereTheRecordingDidNotEndInTimeToMeasureBehindIt) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"overhead": {"flush_ns": 4000000000}})");
  const Outcome outcome = Gpubound({"calibrate", "--seconds", "2", "--python", ""});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("not measured: CUDA calls behind the end of a recording"));
  EXPECT_THAT(outcome.out, HasSubstr("cudaLaunchKernel"));
}

TEST_F(CalibrationRun, WithoutACudaRuntimeSaysThatCallsAreNotMeasured) {
  runner().Set("LD_LIBRARY_PATH", "");
  runner().Set("CUDA_HOME", "/nonexistent");
  const Outcome outcome = Gpubound({"calibrate", "--seconds", "2", "--python", ""});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("not measured: cudaLaunchKernel"));
  EXPECT_THAT(outcome.out, HasSubstr("no CUDA runtime"));
  EXPECT_THAT(outcome.out, HasSubstr("native scope"));
}

TEST_F(CalibrationRun, WithoutAnInterpreterSaysThatPythonIsNotMeasured) {
  const Outcome outcome =
      Gpubound({"calibrate", "--seconds", "2", "--python", "/nonexistent/python"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("/nonexistent/python"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("python scope")));
}

TEST_F(CalibrationRun, APythonThatIsNoneIsSaidToBeNotMeasured) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "there is no package then";
  const Outcome outcome = Gpubound({"calibrate", "--seconds", "2", "--python", "/bin/true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("not measured: Python"));
  EXPECT_THAT(outcome.out, HasSubstr("native scope"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("python scope")));
}

// An installation without the package, or an interpreter asked for that would have no use for it.
TEST_F(CalibrationRun, WithoutThePackageSaysThatPythonIsNotMeasured) {
  const std::string folder = File("lib");
  std::filesystem::create_directory(folder);
  for (const char* name : {"libgpubound.so", "libgpubound_core.so", "gpubound-calibration"}) {
    std::filesystem::create_symlink(std::filesystem::path(GPUBOUND_TEST_SHIM).parent_path() / name,
                                    folder + "/" + name);
  }
  runner().Set("GPUBOUND_LIBRARY_DIR", folder);
  for (const char* python : {GPUBOUND_TEST_PYTHON, "/nonexistent/python"}) {
    const Outcome outcome = Gpubound({"calibrate", "--seconds", "1", "--python", python});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    EXPECT_THAT(outcome.out, HasSubstr("not measured: Python"));
    EXPECT_THAT(outcome.out, HasSubstr("no Python package gpubound"));
  }
}

TEST_F(CalibrationRun, HasThreeRoundsHoweverLittleTimeThereIs) {
  const Outcome outcome = Gpubound({"calibrate", "--json", "--seconds", "1", "--python", ""});
  constexpr uint64_t kPairs = 8;
  for (const MeasuredCost& measured : Parsed(outcome).costs) {
    EXPECT_GE(measured.cost.samples, 3 * kPairs) << measured.api << measured.condition;
  }
}

TEST_F(CalibrationRun, WithoutItsProgramIsAnErrorWithARemedy) {
  const std::string folder = File("lib");
  std::filesystem::create_directory(folder);
  for (const char* name : {"libgpubound.so", "libgpubound_core.so"}) {
    std::filesystem::create_symlink(std::filesystem::path(GPUBOUND_TEST_SHIM).parent_path() / name,
                                    folder + "/" + name);
  }
  runner().Set("GPUBOUND_LIBRARY_DIR", folder);
  const Outcome outcome = Calibrate();
  EXPECT_EQ(outcome.exit_code, 3) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("gpubound-calibration"));
  EXPECT_THAT(outcome.err, HasSubstr("Install gpubound again"));
}

TEST_F(CalibrationRun, AWhatIfThatChangesNothingHasTheCorrectedSpanOfTheReport) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  ASSERT_EQ(Victim("train", 20).exit_code, 0);
  const Json process = Report()["processes"][0];
  ASSERT_FALSE(process["corrected"].is_null()) << process["corrected_why_not"];
  const Outcome outcome = Gpubound({"whatif", run_path(), "--scale", "device:1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json imagined = Json::parse(outcome.out);
  EXPECT_EQ(imagined["wall_ns"], process["corrected"]["span_ns"]);
  EXPECT_EQ(imagined["predicted_wall_ns"], process["corrected"]["span_ns"]);
  EXPECT_LT(imagined["wall_ns"], process["span_ns"]);
}

TEST_F(CalibrationRun, HasItsCalibrationMeasuredAfterTheFirstRunAndCopiedAfterTheNext) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  const Outcome first = Victim("annotate", 10);
  EXPECT_EQ(first.exit_code, 0) << first.Describe();
  EXPECT_THAT(first.err, HasSubstr("measuring once"));
  EXPECT_EQ(ModeOf(OwnFile()), 0600u);
  const std::string measured = ReadText(OwnFile());
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_EQ(ReadText(Kept()[0]), measured);

  const std::string other = File("y.gpubound");
  const Outcome second =
      Gpubound({"run", "-o", other, "--", GPUBOUND_TEST_VICTIM, "annotate", "9"});
  EXPECT_THAT(second.err, Not(HasSubstr("measuring")));
  EXPECT_EQ(ReadText(other + "/" + kCalibrationFile), measured);
}

TEST_F(CalibrationRun, CorrectsTheSummaryOfAShortRun) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  runner().Set("COLUMNS", "200");
  const Outcome outcome = Victim("train", 20);
  EXPECT_THAT(outcome.err, HasSubstr(", without the profiler "));
  EXPECT_THAT(outcome.err, HasSubstr("twice as fast"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("not corrected")));
  EXPECT_THAT(Gpubound({"report", run_path(), "--no-replay"}).out,
              HasSubstr("not corrected for profiling (--no-replay leaves that out)"));
}

TEST_F(CalibrationRun, IsNotCalibratedWhereTheUserForbidsIt) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  const Outcome outcome = Gpubound(
      {"run", "--no-calibrate", "-o", run_path(), "--", GPUBOUND_TEST_VICTIM, "annotate", "9"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, Not(HasSubstr("measuring")));
  EXPECT_FALSE(std::filesystem::exists(OwnFile()));
}

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

TEST_F(VerifyRun, RefusesACommandThatFailsAndShowsWhatItSaidLast) {
  const Outcome outcome =
      Gpubound({"verify", "--", "/bin/sh", "-c", "echo 'no level \033[31m' >&2; exit 9"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("  no level \\x1b[31m\n"));
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
  EXPECT_EQ(Gpubound({"verify", "--limitt", "1", "--", "/bin/true"}).exit_code, 2);
}

}  // namespace
}  // namespace gpubound
