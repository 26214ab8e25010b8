// SPDX-License-Identifier: Apache-2.0
//
// `gpubound calibrate` on the simulated device, whose cost is known, and what `gpubound run` makes
// of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "analysis/calibration/calibration_file.h"
#include "analysis/calibration/cost_model.h"
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
  // Of libraries; |script| plays the part of the program that measures.
  std::string FolderWithCalibrationProgram(const std::string& script) const {
    const std::filesystem::path libraries = std::filesystem::path(GPUBOUND_TEST_SHIM).parent_path();
    const std::string folder = File("lib");
    std::filesystem::create_directory(folder);
    for (const char* name : {"libgpubound.so", "libgpubound_core.so"}) {
      std::filesystem::create_symlink(libraries / name, folder + "/" + name);
    }
    WriteScript("lib/gpubound-calibration", script);
    return folder;
  }
  std::string WriteScript(const std::string& name, const std::string& script) const {
    const std::string path = File(name);
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void SetOverhead(const Json& overhead) {
    runner().Set("GPUBOUND_SIM_SCRIPT", Json{{"overhead", overhead}}.dump());
  }
  Calibration CalibrationWithOverhead(int api_ns, int launch_ns) {
    SetOverhead({{"api_ns", api_ns}, {"launch_ns", launch_ns}});
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

// Scopes of that name which |run| has.
int64_t ScopesNamed(const gpubound::Run& run, const std::string& name) {
  int64_t scopes = 0;
  for (const ProcessTrace& process : run.processes) {
    for (const ThreadTrace& thread : process.threads) {
      scopes += std::ranges::count_if(thread.events, [&](const ThreadEvent& event) {
        return event.kind == SlotKind::kBegin && process.LabelOf(event.label).text == name;
      });
    }
  }
  return scopes;
}

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

// The first one behind another program's turn costs more. A process that is there to be started and
// ended does nothing else.
TEST_F(CalibrationRun, ATurnBeginsWithSomeThatAreNotTimed) {
  const std::string program =
      std::filesystem::path(GPUBOUND_TEST_SHIM).parent_path() / "gpubound-calibration";
  ASSERT_EQ(Shell("printf 'run named_scope 1\nrun cold_scope 5\n' | " + program).exit_code, 0);
  const gpubound::Run run = Load();
  // A disturbed one is repeated.
  EXPECT_GE(ScopesNamed(run, "calibration cold scope"), 5 + 8);
  EXPECT_LT(ScopesNamed(run, "calibration named scope"), 8);
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
  constexpr int kApiNs = 20'000;
  constexpr int kLaunchNs = 80'000;
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
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "extension with the thread sanitizer";
  constexpr int kApiNs = 20'000;
  constexpr int kColdNs = 40'000;
  SetOverhead({{"api_ns", kApiNs}, {"cold_ns", kColdNs}});
  const CostModel model = ModelOf(Parsed(Calibrate({"--python", GPUBOUND_TEST_PYTHON})));
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
  EXPECT_THAT(outcome.out, HasSubstr("not measured: CUDA calls after the end of a recording"));
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

TEST_F(CalibrationRun, WithoutAnInterpreterThatWorksSaysThatPythonIsNotMeasured) {
  const Outcome outcome = Gpubound({"calibrate", "--seconds", "2", "--python", "/bin/false"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("/bin/false"));
  EXPECT_THAT(outcome.out, HasSubstr("cudaLaunchKernel after other work"));
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

// The allocator that it is linked with costs the recorded program what it costs the other one.
TEST_F(CalibrationRun, BothProgramsHaveWhatTheUserPreloads) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "there is no package then";
  const std::string log = File("preloads");
  const std::string python =
      WriteScript("python3", "echo \"$GPUBOUND_DISABLE $LD_PRELOAD\" >> " + log);
  runner().Set("LD_PRELOAD", "libm.so.6");
  const Outcome outcome = Gpubound({"calibrate", "--seconds", "1", "--python", python});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(ReadText(log), HasSubstr("1 libm.so.6\n"));
  EXPECT_THAT(ReadText(log), HasSubstr("0 libm.so.6:" GPUBOUND_TEST_SHIM "\n"));
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
  for (const char* python : {GPUBOUND_TEST_PYTHON, "/bin/false"}) {
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

TEST_F(CalibrationRun, TellsHowLongCuptiTakesToEnterCalls) {
  if (!kPythonLoadsTheExtension) GTEST_SKIP() << "extension with the thread sanitizer";
  SetOverhead({{"api_ns", 4'000}, {"cold_ns", 4'000}, {"entry_percent", 50}});
  const Calibration calibration = Parsed(Calibrate({"--python", GPUBOUND_TEST_PYTHON}));
  int calls = 0;
  for (const MeasuredCost& measured : calibration.costs) {
    if (measured.kind != CostKind::kApiCall) {
      EXPECT_EQ(measured.cost.entry_ns, 0) << CostKindName(measured.kind);
      continue;
    }
    ++calls;
    const double entry_ns = measured.condition.empty() ? 2'000 : 4'000;
    EXPECT_GE(measured.cost.entry_ns, 0.9 * entry_ns) << measured.api << measured.condition;
    if (!measured.condition.empty()) continue;
    EXPECT_LT(measured.cost.entry_ns, 0.9 * 4'000) << measured.api;
  }
  EXPECT_EQ(calls, 12);
}

TEST_F(CalibrationRun, CallsThatCuptiTakesLongerToEnterAreTakenToCostMore) {
  // Short, so that hardly any is interrupted, and many.
  SetOverhead({{"api_ns", 5'000}, {"entry_percent", 50}});
  ASSERT_EQ(Gpubound({"calibrate", "--seconds", "2", "--python", ""}).exit_code, 0);
  const auto removed_ns = [this](int api_ns, const std::string& run, double* factor) {
    SetOverhead({{"api_ns", api_ns}, {"entry_percent", 50}});
    const Outcome outcome =
        Gpubound({"run", "-o", run, "--", GPUBOUND_TEST_VICTIM, "train", "1000"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    const Json report = Json::parse(Gpubound({"report", run, "--json"}).out);
    const Json& corrected = report["processes"][0]["corrected"];
    EXPECT_FALSE(corrected.is_null()) << report["processes"][0]["corrected_why_not"];
    if (corrected.is_null()) return 0.0;
    const Json& entries = corrected["in_run_calibration"]["entries"];
    EXPECT_FALSE(entries.is_null());
    if (entries.is_null()) return 0.0;
    EXPECT_GT(entries["calls"], 16);
    *factor = entries["factor"];
    return corrected["removed_ns"].get<double>();
  };
  double as_calibrated = 0;
  double longer = 0;
  const double usual_ns = removed_ns(5'000, File("usual.gpubound"), &as_calibrated);
  const double more_ns = removed_ns(20'000, File("longer.gpubound"), &longer);
  EXPECT_GT(longer, 2 * as_calibrated);  // four times, but for what a sanitizer adds to both
  EXPECT_GT(more_ns, 2 * usual_ns);
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

// The programs that measure are told by the terminal as this one is.
TEST_F(CalibrationRun, AnInterruptEndsTheMeasuringAlone) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  runner().Set("GPUBOUND_LIBRARY_DIR", FolderWithCalibrationProgram("kill -INT $$\n: > survived"));
  const Outcome outcome = Victim("annotate", 10);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("measuring with the calibration program"));
  EXPECT_FALSE(std::filesystem::exists(File("survived")));
}

// As in `nohup gpubound run` and behind a script's &.
TEST_F(CalibrationRun, AnInterruptThatTheUserHasIgnoredIsIgnoredByTheMeasuringToo) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  runner().Set("GPUBOUND_LIBRARY_DIR", FolderWithCalibrationProgram("kill -INT $$\n: > survived"));
  const Outcome outcome =
      runner().Run({"/usr/bin/env", "--ignore-signal=INT", GPUBOUND_TEST_COMMAND, "run", "-o",
                    run_path(), "--", GPUBOUND_TEST_VICTIM, "annotate", "10"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_TRUE(std::filesystem::exists(File("survived")));
}

TEST_F(CalibrationRun, CorrectsTheSummaryOfAShortRun) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  runner().Set("COLUMNS", "200");
  const Outcome outcome = Victim("train", 20);
  EXPECT_THAT(outcome.err, HasSubstr("profiling cost "));
  EXPECT_THAT(outcome.err, HasSubstr("twice as fast"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("not corrected")));
  EXPECT_THAT(Gpubound({"report", run_path(), "--full", "--no-replay"}).out,
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

}  // namespace
}  // namespace gpubound
