// SPDX-License-Identifier: Apache-2.0
//
// Calibrations as files: what comes back, what is refused, and which one serves a run.
#include "analysis/calibration/calibration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/calibration/cost_model.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Calibration Sample() {
  Calibration calibration;
  calibration.machine = {"Xeon \"8\"", "real", "580.65.06", "130001", "3.11", "0.1.0"};
  calibration.measured_realtime_ns = 1'700'000'000'123'456'789;
  calibration.duration_ns = 4'000'000'000;
  calibration.seed = 0xffffffffffffffff;
  calibration.costs = {{CostKind::kNativeScope, "", "", {10.5, 9.25, 400, 0.5, 80}},
                       {CostKind::kNativeScope, "", "cold caches", {100, 90, 9e4, 30, 80}},
                       {CostKind::kApiCall, "cudaLaunchKernel", "", {700, 300, 1e6, 12, 80}},
                       {CostKind::kApiCall, "cudaMemcpyAsync", "", {500, 300, 1e6, 12, 80}}};
  calibration.costs[2].cost.entry_ns = 206.5;
  calibration.processes = {{"CUDA", {0, 2.5e7, 1e12, 5e5, 10}}};
  calibration.missing = {{"Python call", "no interpreter"}};
  return calibration;
}

Run RunOn(const MachineKey& key) {
  Run run;
  ProcessTrace process;
  process.identity.host = "host";
  process.cpu_model = key.cpu_model;
  process.device_kind = key.device_kind;
  process.driver_version = key.driver;
  process.cupti_version = key.cupti;
  process.python_version = key.python;
  process.version = key.gpubound;
  run.processes.push_back(process);
  return run;
}

class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile() : cache_(folder_.File("cache/gpubound")) {}

  std::string ErrorOf(const std::string& text) {
    const Result<Calibration> read = ParseCalibration(text, "calibration.json");
    return read.ok() ? "" : read.error().ToString();
  }
  static std::string Replaced(const std::string& old_text, const std::string& new_text) {
    std::string text = RenderCalibration(Sample());
    const size_t at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    return text.replace(at, old_text.size(), new_text);
  }
  Result<Calibration> Find(const MachineKey& key) { return FindCalibration(cache_, key); }

  TemporaryFolder folder_;
  const std::string cache_;
};

TEST_F(CalibrationFile, ComesBackAsItWasWritten) {
  const std::string path = folder_.File("calibration.json");
  ASSERT_TRUE(WriteCalibration(path, Sample()).ok());
  const Result<Calibration> read = ReadCalibration(path);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(RenderCalibration(*read), RenderCalibration(Sample()));
  EXPECT_EQ(read->machine, Sample().machine);
  EXPECT_EQ(read->seed, Sample().seed);
  ASSERT_THAT(read->costs, SizeIs(4));
  EXPECT_EQ(read->costs[2].api, "cudaLaunchKernel");
  EXPECT_DOUBLE_EQ(read->costs[0].cost.outside_ns, 9.25);
  EXPECT_DOUBLE_EQ(read->costs[2].cost.entry_ns, 206.5);
  EXPECT_DOUBLE_EQ(read->costs[3].cost.entry_ns, 0) << "not known";
  ASSERT_THAT(read->processes, SizeIs(1));
  EXPECT_DOUBLE_EQ(read->processes[0].cost.outside_ns, 2.5e7);
}

TEST_F(CalibrationFile, IsForItsOwnerOnly) {
  const std::string path = folder_.File("calibration.json");
  ASSERT_TRUE(WriteCalibration(path, Sample()).ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  EXPECT_EQ(ModeOf(cache_), 0700u);
}

TEST_F(CalibrationFile, ThatIsNoJsonIsRefused) {
  EXPECT_THAT(ErrorOf("{\"format\": \"gpubound.calib"), HasSubstr("no JSON object"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("gpubound calibrate"));
  EXPECT_THAT(ErrorOf("[1]"), HasSubstr("no JSON object"));
}

TEST_F(CalibrationFile, OfANewerFormatIsRefusedWithBothNamed) {
  const std::string error = ErrorOf(Replaced("calibration.v1", "calibration.v2"));
  EXPECT_THAT(error, HasSubstr("gpubound.calibration.v2"));
  EXPECT_THAT(error, HasSubstr("gpubound.calibration.v1"));
  EXPECT_THAT(error, HasSubstr("upgrade"));
}

TEST_F(CalibrationFile, WithoutAFieldIsRefusedWithItsName) {
  EXPECT_THAT(ErrorOf(Replaced("\"inside_ns\"", "\"insides\"")), HasSubstr("inside_ns"));
  EXPECT_THAT(ErrorOf(Replaced("\"driver\"", "\"drover\"")), HasSubstr("driver"));
}

TEST_F(CalibrationFile, WithAnUnknownKindOfCostIsRefused) {
  EXPECT_THAT(ErrorOf(Replaced("api_call", "api_phone")), HasSubstr("api_phone"));
}

TEST_F(CalibrationFile, WithACostThatCannotBeIsRefused) {
  EXPECT_THAT(ErrorOf(Replaced("\"standard_error_ns\": 0.5", "\"standard_error_ns\": -1")),
              HasSubstr("cannot be"));
  EXPECT_THAT(ErrorOf(Replaced("206.5", "-1.0")), HasSubstr("cannot be"));
  EXPECT_THAT(ErrorOf(Replaced("\"inside_ns\": 10.5", "\"inside_ns\": 1e300")),
              HasSubstr("cannot be"));
}

TEST_F(CalibrationFile, MayHaveAProcessThatTookSecondsToStart) {
  const auto life = [](const char* ns) { return Replaced("\"outside_ns\": 25000000.0", ns); };
  EXPECT_EQ(ErrorOf(life("\"outside_ns\": 1.5e9")), "");
  EXPECT_THAT(ErrorOf(life("\"outside_ns\": 1.5e12")), HasSubstr("cannot be"));
}

TEST_F(CalibrationFile, ThatIsNotThereIsNamed) {
  const Result<Calibration> read = ReadCalibration("/nonexistent/calibration.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().object, "/nonexistent/calibration.json");
}

TEST_F(CalibrationFile, ThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  const Status written = WriteCalibration("/proc/calibration.json", Sample());
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().ToString(), HasSubstr("/proc/calibration.json"));
}

TEST_F(CalibrationFile, IsFoundForTheMachineThatItWasMeasuredOn) {
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  EXPECT_TRUE(Find(Sample().machine).ok());
}

TEST_F(CalibrationFile, ServesARunThatUsesLess) {
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  EXPECT_TRUE(Find({"Xeon \"8\"", "none", "", "", "", "0.1.0"}).ok());
}

TEST_F(CalibrationFile, OfAnotherMachineDoesNotServeAndTheReasonNamesBoth) {
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  for (std::string MachineKey::*member :
       {&MachineKey::cpu_model, &MachineKey::device_kind, &MachineKey::driver, &MachineKey::cupti,
        &MachineKey::python, &MachineKey::gpubound}) {
    MachineKey other = Sample().machine;
    other.*member = "another";
    const Result<Calibration> found = Find(other);
    ASSERT_FALSE(found.ok());
    EXPECT_THAT(found.error().found, HasSubstr("another"));
    EXPECT_THAT(found.error().found, HasSubstr(Sample().machine.*member));
    EXPECT_THAT(found.error().remedy, HasSubstr("gpubound calibrate"));
  }
}

TEST_F(CalibrationFile, ThatIsMissingIsSaidInWords) {
  MachineKey key = Sample().machine;
  EXPECT_EQ(Find(key).error().found, "not measured yet on this machine");
  Calibration other = Sample();
  other.machine.cpu_model = "a laptop";
  ASSERT_TRUE(StoreCalibration(cache_, other).ok());
  other = Sample();
  other.machine.python.clear();
  ASSERT_TRUE(StoreCalibration(cache_, other).ok());
  key.python = "3.12";
  EXPECT_EQ(Find(key).error().found, "not measured yet with Python 3.12, only without Python");
  key.python.clear();
  EXPECT_TRUE(Find(key).ok()) << "what was measured with less serves";
  key = {"Xeon \"8\"", "real", "600", "130001", "", "0.1.0"};
  EXPECT_EQ(Find(key).error().found,
            "not measured yet with driver 600, only with driver 580.65.06");
}

TEST_F(CalibrationFile, OfSeveralThatServeTheNewestIsTaken) {
  Calibration older = Sample();
  older.machine.python = "3.9";
  older.measured_realtime_ns -= 1;
  ASSERT_TRUE(StoreCalibration(cache_, older).ok());
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  const Result<Calibration> found = Find({"Xeon \"8\"", "none", "", "", "", "0.1.0"});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->machine.python, "3.11");
}

TEST_F(CalibrationFile, ThatIsDamagedIsPassedOver) {
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  folder_.Write("cache/gpubound/calibration-a.json", "half a fi");
  EXPECT_TRUE(Find(Sample().machine).ok());
}

TEST_F(CalibrationFile, HasAPlaceForEachKey) {
  MachineKey other = Sample().machine;
  other.cpu_model += " v2";
  EXPECT_EQ(CalibrationPath("/c", Sample().machine), CalibrationPath("/c", Sample().machine));
  EXPECT_NE(CalibrationPath("/c", Sample().machine), CalibrationPath("/c", other));
  EXPECT_THAT(CalibrationPath("/c", Sample().machine), HasSubstr("580.65.06"));
}

TEST_F(CalibrationFile, OfTheRunComesBeforeThatOfTheCache) {
  ASSERT_TRUE(StoreCalibration(cache_, Sample()).ok());
  auto run = RunOn(Sample().machine);
  run.path = folder_.path();
  EXPECT_EQ(CalibrationOf(run, cache_)->seed, Sample().seed);
  Calibration own = Sample();
  own.seed = 7;
  ASSERT_TRUE(WriteCalibration(folder_.File(kCalibrationFile), own).ok());
  EXPECT_EQ(CalibrationOf(run, cache_)->seed, 7u);
}

TEST_F(CalibrationFile, OfTheRunIsRefusedWhereItWasMeasuredWithSomethingElse) {
  auto run = RunOn(Sample().machine);
  run.path = folder_.path();
  for (std::string MachineKey::*member :
       {&MachineKey::cpu_model, &MachineKey::device_kind, &MachineKey::driver, &MachineKey::cupti,
        &MachineKey::python, &MachineKey::gpubound}) {
    Calibration own = Sample();
    own.machine.*member = "another";
    ASSERT_TRUE(WriteCalibration(folder_.File(kCalibrationFile), own).ok());
    const Result<Calibration> found = CalibrationOf(run, cache_);
    ASSERT_FALSE(found.ok());
    EXPECT_THAT(found.error().object, HasSubstr(kCalibrationFile));
    EXPECT_THAT(found.error().found, HasSubstr("another"));
    EXPECT_THAT(found.error().found, HasSubstr(Sample().machine.*member));
    EXPECT_THAT(found.error().remedy, HasSubstr("Remove it"));
  }
}

TEST_F(CalibrationFile, OfTheRunServesThoseOfItsProcessesThatItIsOf) {
  MachineKey other = Sample().machine;
  other.cpu_model = "another";
  auto run = RunOn(other);
  run.processes.push_back(RunOn(Sample().machine).processes[0]);
  run.path = folder_.path();
  ASSERT_TRUE(WriteCalibration(folder_.File(kCalibrationFile), Sample()).ok());
  const Result<Calibration> found = CalibrationOf(run, cache_);
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_THAT(ModelOf(*found).WhyNotOf(run.processes[0]), HasSubstr("recorded on the CPU another"));
  EXPECT_EQ(ModelOf(*found).WhyNotOf(run.processes[1]), "");
}

TEST_F(CalibrationFile, IsNotThereForAnImportedRun) {
  MachineKey key = Sample().machine;
  key.device_kind = "imported";
  const Result<Calibration> found = CalibrationOf(RunOn(key), cache_);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().found, HasSubstr("another tool"));
}

TEST_F(CalibrationFile, IsMissingWithAReasonWhereNothingWasMeasured) {
  const Result<Calibration> found = Find(Sample().machine);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().found, HasSubstr("not measured yet on this machine"));
}

TEST(MachineKeyTest, JoinsTheProcessesOfOneHost) {
  auto run = RunOn({"CPU", "none", "", "", "3.12", "0.1.0"});
  run.processes.push_back(RunOn({"CPU", "real", "580", "130001", "", "0.1.0"}).processes[0]);
  EXPECT_EQ(KeyOf(run), (MachineKey{"CPU", "real", "580", "130001", "3.12", "0.1.0"}));
}

TEST(CostModelTest, TakesTheUsualConditionOnly) {
  const CostModel model = ModelOf(Sample());
  EXPECT_DOUBLE_EQ(model.Of(CostKind::kNativeScope).total_ns(), 19.75);
  EXPECT_EQ(model.Of(CostKind::kPythonScope).samples, 0u);
}

TEST(CostModelTest, HasTheInstantsOfAnInterpreterBesideTheOthers) {
  Calibration calibration = Sample();
  calibration.costs.push_back({CostKind::kInstant, "", "", {0, 20, 1, 1, 80}});
  calibration.costs.push_back({CostKind::kInstant, "", "from Python", {0, 97, 1, 1, 80}});
  EXPECT_DOUBLE_EQ(ModelOf(calibration).Of(CostKind::kInstant).total_ns(), 20);
  EXPECT_DOUBLE_EQ(ModelOf(calibration).python_instant.total_ns(), 97);
}

TEST(CostModelTest, HasWhatEventsCostBehindOtherWorkBesideTheUsual) {
  Calibration calibration = Sample();
  calibration.costs.push_back({CostKind::kInterceptedCall, "", "", {10, 24, 1, 1, 80}});
  calibration.costs.push_back(
      {CostKind::kInterceptedCall, "", "after other work", {10, 63, 1, 1, 80}});
  EXPECT_DOUBLE_EQ(ModelOf(calibration).Of(CostKind::kInterceptedCall).total_ns(), 34);
  EXPECT_DOUBLE_EQ(ModelOf(calibration).AfterOtherWork(CostKind::kInterceptedCall).total_ns(), 73);
}

TEST(CostModelTest, HasWhatCallsCostBehindOtherWorkByFunction) {
  Calibration calibration = Sample();
  calibration.costs.push_back(
      {CostKind::kApiCall, "cudaLaunchKernel", "after other work", {2500, 1500, 1, 1, 80}});
  calibration.costs.push_back(
      {CostKind::kApiCall, "cudaMemcpyAsync", "after other work", {2000, 1000, 1, 1, 80}});
  const CostModel model = ModelOf(calibration);
  EXPECT_DOUBLE_EQ(model.OfApi("cudaLaunchKernel").total_ns(), 1000);
  EXPECT_DOUBLE_EQ(model.OfApiAfterOtherWork("cudaLaunchKernel").total_ns(), 4000);
  EXPECT_DOUBLE_EQ(model.OfApiAfterOtherWork("cudaEventQuery").total_ns(), 3500);
  EXPECT_EQ(ModelOf(Sample()).OfApiAfterOtherWork("cudaLaunchKernel").samples, 0u);
}

TEST(CostModelTest, GivesAFunctionThatWasNotMeasuredTheMeanAndTheSpreadOfTheOthers) {
  const CostModel model = ModelOf(Sample());
  EXPECT_DOUBLE_EQ(model.OfApi("cudaLaunchKernel").total_ns(), 1000);
  const Cost& other = model.OfApi("cudaEventQuery");
  EXPECT_DOUBLE_EQ(other.total_ns(), 900);
  // 1000 and 800 around 900: variance 20000, and the errors of both means.
  EXPECT_DOUBLE_EQ(other.standard_error_ns, std::sqrt(20000.0 + 2 * 12.0 * 12.0 / 4));
}

}  // namespace
}  // namespace gpubound
