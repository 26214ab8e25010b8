// SPDX-License-Identifier: Apache-2.0
//
// Whole runs on the simulated device, against what the simulated device says really happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kIterations = 20;
constexpr int64_t kSimulationNs = 200'000;          // that victim.cc spins in each iteration
constexpr int64_t kBackpropagationGpuNs = 600'000;  // of its two kernels, see command_run.cc

class TrainingRun : public CommandRun {
 protected:
  TrainingRun() { runner().Set("GPUBOUND_SIM_TRUTH", File("truth-%p.json")); }

  // What the device of the process |pid| did.
  Json TruthOf(const Json& pid) {
    return Json::parse(ReadText(File("truth-" + pid.dump() + ".json")));
  }

  void ExpectTruth(const Json& process) {
    const Json truth = TruthOf(process["pid"]);
    ExpectSameTime(process["gpu_busy_ns"], truth["busy_ns"], "busy");
    ExpectSameTime(RowOf(process, "inference")["gpu_caused_ns"],
                   BusyNsOf(truth, {"memcpy", "policy_forward"}), "caused by inference");
    ExpectSameTime(RowOf(process, "backpropagation")["gpu_caused_ns"],
                   BusyNsOf(truth, {"policy_backward", "optimizer_step"}),
                   "caused by backpropagation");
    for (const char* operation : {"simulation", "inference", "backpropagation"}) {
      EXPECT_EQ(RowOf(process, operation)["count"], kIterations) << operation;
    }
  }
};

TEST_F(TrainingRun, AgreesWithTheDevice) {
  const Outcome outcome = Victim("train", kIterations);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 1u);
  ExpectExactPartition(report);
  ExpectTruth(report["processes"][0]);
}

TEST_F(TrainingRun, HoldsEveryPieceOfDeviceWorkByName) {
  Victim("train", kIterations);
  const auto run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  const ProcessTrace& process = run.processes[0];
  std::map<std::string, int> kernels;
  int copies = 0;
  for (const DeviceWork& work : process.device_work) {
    const Work& what = process.WorkOf(work.work);
    if (what.info.kind == WorkKind::kKernel) ++kernels[what.name];
    if (what.info.kind == WorkKind::kMemcpy) ++copies;
  }
  const std::map<std::string, int> expected = {{"policy_forward", kIterations},
                                               {"policy_backward", kIterations},
                                               {"optimizer_step", kIterations}};
  EXPECT_EQ(kernels, expected);
  EXPECT_EQ(copies, kIterations);
}

// Each iteration waits, from the first on: none has been seen that did not.
// Waits that are long beside what a busy machine takes to wake a thread up.
TEST_F(TrainingRun, KnowsHowMuchOfItAnInfinitelyFastGpuWouldSave) {
  constexpr int kKernelNs = 5'000'000;
  const Json kernels = {{"policy_forward", kKernelNs}, {"policy_backward", kKernelNs}};
  runner().Set("GPUBOUND_SIM_SCRIPT", Json({{"device", {{"kernels", kernels}}}}).dump());
  Victim("train", kIterations);
  const Json report = Report();
  const Json& process = report["processes"][0];
  const double saved_ns =
      report["run"]["gpu_limited_share"].get<double>() * process["span_ns"].get<double>();
  EXPECT_GT(saved_ns, 0.6 * process["gpu_wait_ns"].get<double>());
}

TEST_F(TrainingRun, NothingOfItWasLost) {
  Victim("train", kIterations);
  ExpectNoLoss(Report());
  EXPECT_EQ(Gpubound({"doctor", run_path()}).exit_code, 0);
}

TEST_F(TrainingRun, HoldsTheSameByCallsOfTheDriver) {
  std::vector<std::vector<size_t>> found;  // works, calls, synchronisations
  for (const bool driver_api : {false, true}) {
    SCOPED_TRACE(driver_api ? "calls of the driver" : "calls of the runtime");
    runner().Set("GPUBOUND_SIM_SCRIPT", Json({{"driver_api", driver_api}}).dump());
    std::filesystem::remove_all(run_path());
    ASSERT_EQ(Victim("train", kIterations).exit_code, 0);
    const Json report = Report();
    ASSERT_EQ(report["processes"].size(), 1u);
    ExpectExactPartition(report);
    ExpectTruth(report["processes"][0]);
    const auto run = Load();
    const ProcessTrace& process = run.processes[0];
    size_t calls = 0;
    for (const ThreadTrace& thread : process.threads) calls += thread.calls.size();
    found.push_back({process.device_work.size(), calls, process.syncs.size()});
    EXPECT_GT(process.syncs.size(), 0u);
  }
  EXPECT_EQ(found[0], found[1]);
}

// Calls that are not recorded, of a program that says how many it makes.
class Queries : public CommandRun {
 protected:
  static constexpr int kPollMs = 1500;

  // How many the program has made, but for the few of its one iteration.
  double Poll(const std::string& count) {
    std::filesystem::remove_all(run_path());
    runner().Set("GPUBOUND_COUNT_QUERIES", count);
    const Outcome outcome = Victim("poll", kPollMs);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    report_ = Report();
    const size_t said = outcome.out.find("polled ");
    return said == std::string::npos ? 0 : std::stod(outcome.out.substr(said + 7));
  }
  double Counted() const {
    return static_cast<double>(LedgerOf(report_, LedgerCounter::api_calls_suppressed));
  }
  Outcome Check(const std::string& condition) {
    return Gpubound({"check", run_path(), "--require", condition});
  }

  Json report_;
};

TEST_F(Queries, AreAllCountedWhereThatIsAskedFor) {
  const double polled = Poll("1");
  EXPECT_TRUE(report_["not_counted"].empty());
  EXPECT_GE(Counted(), polled);
  EXPECT_LT(Counted(), polled + 100);
}

TEST_F(Queries, AreSaidNotToBeCountedWhereTheyAreNot) {
  Poll("0");
  ASSERT_EQ(report_["not_counted"].size(), 1u);
  EXPECT_EQ(report_["not_counted"][0]["counter"], LedgerName(LedgerCounter::api_calls_suppressed));
  EXPECT_THAT(Gpubound({"doctor", run_path()}).out, HasSubstr("unknown    api_calls_suppressed"));
  EXPECT_EQ(Check("ledger.api_calls_suppressed<=1000000000").exit_code, 1) << "it is not zero";
}

TEST_F(TrainingRun, KnowsTheContextOfEveryStream) {
  Victim("train", kIterations);
  const Outcome outcome =
      Gpubound({"sql", run_path(),
                "SELECT count(*) FROM gpu LEFT JOIN context USING (process, device, context) WHERE "
                "multiprocessors IS NULL OR is_green",
                "--csv"});
  EXPECT_THAT(outcome.out, HasSubstr("\n0\r\n")) << outcome.Describe();
}

TEST_F(TrainingRun, SaysWhatNvidiaSmiWouldHaveSaid) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"nvml": {"gpu_percent": 93}})");
  Victim("train", kIterations);
  const Json device = Report()["devices"][0];
  EXPECT_DOUBLE_EQ(device["simulated_utilization"].get<double>(), 0.93);
  EXPECT_TRUE(device["nvml_utilization"].is_null()) << "a stand-in is not nvidia-smi";
}

TEST_F(TrainingRun, WhoElseUsesTheGpuIsNamedAndMakesItsBusyTimeALowerBound) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"nvml": {"other_pid": 1}})");
  ASSERT_EQ(Victim("train", 30).exit_code, 0);
  const Json report = Report();
  EXPECT_TRUE(report["run"]["gpu_busy_is_lower_bound"].get<bool>());
  ASSERT_EQ(report["devices"][0]["not_profiled"].size(), 1u);
  EXPECT_EQ(report["devices"][0]["not_profiled"][0]["pid"].get<int>(), 1);
  const std::string text = Gpubound({"report", "--full", run_path()}).out;
  EXPECT_THAT(text, HasSubstr("GPU busy at least "));
  EXPECT_THAT(text, HasSubstr("processes_not_profiled 1."));
}

TEST_F(TrainingRun, EveryOutputSaysThatTheDeviceIsSimulated) {
  EXPECT_THAT(Victim("train", 2).err, HasSubstr("SIMULATED DEVICE"));
  EXPECT_EQ(Report()["device_kind"], "simulated");
  EXPECT_THAT(Gpubound({"report", run_path()}).out, HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"doctor", run_path()}).out, HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"check", run_path(), "--require", "wall>0"}).out,
              HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"whatif", run_path(), "--scale", "device:0.5"}).out,
              HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"compare", run_path(), run_path()}).out, HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"top", "--once", run_path()}).out, HasSubstr("SIMULATED DEVICE"));
  // Tables for programs have no place for it.
  EXPECT_THAT(Gpubound({"report", "--csv", run_path()}).err, HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(Gpubound({"sql", run_path(), "SELECT 1"}).err, HasSubstr("SIMULATED DEVICE"));
}

TEST_F(TrainingRun, WhatIfRefusesWhatTheRunDoesNotHave) {
  Victim("train", 2);
  for (const auto& [scale, named] : std::vector<std::pair<std::string, std::string>>{
           {"operation=inferense:0.5", "Did you mean 'inference'?"},
           {"kernel=policy_sideways:0.5", "no device work of that name"}}) {
    const Outcome outcome = Gpubound({"whatif", run_path(), "--scale", scale});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.Describe();
    EXPECT_THAT(outcome.err, HasSubstr(named));
  }
  EXPECT_EQ(Gpubound({"whatif", run_path(), "--scale", "kernel=backward:0.5"}).exit_code, 0);
}

TEST_F(TrainingRun, EveryFormOfTheReportCanBePrinted) {
  Victim("train", 2);
  const std::vector<std::vector<std::string>> forms = {
      {},
      {"--raw"},
      {"--kernels"},
      {"--by", "operation,phase,process,device,layer"},
      {"--attribution", "timeline"},
      {"--attribution", "caused,timeline"}};
  for (std::vector<std::string> form : forms) {
    form.insert(form.begin(), {"report", run_path()});
    const Outcome outcome = Gpubound(form);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    EXPECT_THAT(outcome.out, HasSubstr("inference"));  // longer names may be cut
    EXPECT_THAT(outcome.err, IsEmpty());
  }
  EXPECT_THAT(Gpubound({"report", run_path(), "--kernels"}).out, HasSubstr("policy_backward"));
}

TEST_F(TrainingRun, IsReplayedWithoutAFolderForTemporaryFiles) {
  runner().Set("TMPDIR", File("missing"));
  const Outcome outcome = Victim("train", 2);
  EXPECT_THAT(outcome.err, Not(HasSubstr("error")));
  const Json report = Report();
  ASSERT_TRUE(report.is_object());
  EXPECT_TRUE(report["run"]["gpu_limited_share"].is_number());
  EXPECT_EQ(Gpubound({"whatif", run_path(), "--scale", "operation=inference:0.5"}).exit_code, 0);
}

TEST_F(TrainingRun, OfTwoProcessesHoldsBoth) {
  const Outcome outcome = Victim("fork", kIterations);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 2u);
  ExpectExactPartition(report);
  for (const Json& process : report["processes"]) ExpectTruth(process);
}

TEST_F(TrainingRun, WithoutCudaHoldsItsOperations) {
  ASSERT_EQ(Victim("annotate", 1000).exit_code, 0);
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 1u);
  ExpectExactPartition(report);
  EXPECT_EQ(RowOf(report["processes"][0], "thinking")["count"], 1000);
  EXPECT_EQ(report["processes"][0]["gpu_busy_ns"], 0);
}

TEST_F(TrainingRun, ThatIsKilledKeepsEveryScope) {
  Victim("die", kIterations, 128 + SIGKILL);
  EXPECT_EQ(RunRecordJson()["signal"], SIGKILL);
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 1u);
  ExpectExactPartition(report);
  const Json& process = report["processes"][0];
  EXPECT_EQ(RowOf(process, "backpropagation")["count"], kIterations);
  EXPECT_EQ(RowOf(process, "last words")["count"], 1);
  EXPECT_THAT(Gpubound({"doctor", run_path()}).out, HasSubstr("process_not_closed"));
}

TEST_F(TrainingRun, ThatIsKilledAndLeavesNoMappingIsIncomplete) {
  Victim("die", kIterations, 128 + SIGKILL);
  for (const auto& entry : std::filesystem::directory_iterator(run_path())) {
    if (entry.path().extension() == ".live") std::filesystem::remove(entry.path());
  }
  const Json report = Report();
  ExpectExactPartition(report);
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("incomplete: Processes that"));
  EXPECT_THAT(Gpubound({"doctor", run_path()}).out, HasSubstr("live_mapping_unavailable"));
  // What was open before what is missing may have ended in it.
  for (const Json& row : report["processes"][0]["operations"])
    EXPECT_EQ(row["scopes_missing"], true);
}

TEST_F(TrainingRun, ThatIsKilledKeepsItsTimes) {
  const Outcome outcome = Victim("die", kIterations, 128 + SIGKILL);
  ASSERT_EQ(outcome.out.substr(0, 5), "took ");
  const int64_t took_ns = std::stoll(outcome.out.substr(5));
  const Json simulation = RowOf(Report()["processes"][0], "simulation");
  EXPECT_GE(simulation["wall_ns"], kIterations * kSimulationNs);
  EXPECT_LE(simulation["wall_ns"], took_ns);
}

TEST_F(TrainingRun, ThatIsKilledDoesNotCallItsGpuIdleWhereNothingWasDelivered) {
  Victim("die", kIterations, 128 + SIGKILL);
  const Json report = Report();
  const Json& process = report["processes"][0];
  // Every wait for the GPU was busy or is unknown: none of it can have been idle for long.
  const Json row = RowOf(process, "backpropagation");
  EXPECT_GE(row["gpu_busy_ns"].get<int64_t>() + row["unknown_ns"].get<int64_t>(),
            kIterations * kBackpropagationGpuNs);
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), Not(HasSubstr("nothing was lost")));
}

TEST_F(TrainingRun, OfWhichGpuTimesLieBeforeTheLaunchesIsDoubtful) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"device": {"kernels": {"policy_backward": 500000}},)"
                                      R"( "faults": {"kernel_start_shift_ns": -200000}})");
  Victim("train", kIterations);
  const Json report = Report();
  ExpectExactPartition(report);
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("doubtful: GPU work"));
  const Outcome ledger = Gpubound({"doctor", run_path()});
  EXPECT_EQ(ledger.exit_code, 1);
  EXPECT_THAT(ledger.out, HasSubstr("work_before_launch = "));
  EXPECT_THAT(ledger.out, HasSubstr("GPU work seems to begin up to"));
}

TEST_F(TrainingRun, ByPlainPreloadIsTheSame) {
  runner().Set("LD_PRELOAD", GPUBOUND_TEST_SHIM);
  runner().Set("GPUBOUND_RUN", run_path());
  const Outcome outcome = runner().Run({GPUBOUND_TEST_VICTIM, "train", "20"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.err, "");
  runner().Unset("LD_PRELOAD");
  const Json report = Report();
  ExpectExactPartition(report);
  ExpectTruth(report["processes"][0]);
}

}  // namespace
}  // namespace gpubound
