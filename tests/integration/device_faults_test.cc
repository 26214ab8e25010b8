// SPDX-License-Identifier: Apache-2.0
//
// Runs on a device whose records, clock, flushes or NVML are not as they should be: what was
// recorded is right, and what is not is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

constexpr int kIterations = 20;
constexpr int kKernels = 3;  // of an iteration
constexpr int kReplays = 20;
constexpr int kNodes = 2;  // of the graph

class DeviceFaults : public CommandRun {
 protected:
  DeviceFaults() { runner().Set("GPUBOUND_SIM_TRUTH", File("truth.json")); }

  // Runs the victim's |action| on a device with the faults of |script|.
  void Run(Json script, const std::string& action, int count,
           const std::vector<std::string>& options = {}) {
    script["device"]["kernels"] = {
        {"policy_forward", 300'000}, {"policy_backward", 500'000}, {"optimizer_step", 100'000}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
    std::vector<std::string> words = {"run", "-o", run_path()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", GPUBOUND_TEST_VICTIM, action, std::to_string(count)});
    const Outcome outcome = Gpubound(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    truth_ = Json::parse(ReadText(File("truth.json")));
    report_ = Report();
    ASSERT_EQ(report_["processes"].size(), 1u);
    ExpectExactPartition(report_);
  }
  void Train(const Json& script) { Run(script, "train", kIterations); }
  Json Row(const std::string& operation) { return RowOf(report_["processes"][0], operation); }
  int64_t Select(const std::string& what, const std::string& from) {
    const Outcome outcome =
        Gpubound({"sql", run_path(), "SELECT " + what + " AS n FROM " + from, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    const Json rows = Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
    return rows.is_array() && !rows.empty() ? rows[0]["n"].get<int64_t>() : -1;
  }
  int64_t Count(const std::string& from) { return Select("count(*)", from); }
  int64_t Kernels() { return Count("gpu WHERE kind = 'kernel'"); }
  int64_t Calls(const std::string& name) { return Count("api WHERE name = '" + name + "'"); }
  std::string Verdict() { return report_["run"]["verdict"]; }

  Json truth_, report_;
};

TEST_F(DeviceFaults, NodesWithIdsOfTheirOwnHaveNoLaunchWhichIsCounted) {
  Run({{"faults", {{"separate_graph_correlations", true}}}}, "graphs", kReplays,
      {"--graphs", "node"});
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::kernels_without_launch), kReplays * kNodes);
  ExpectSameTime(report_["processes"][0]["gpu_busy_ns"], truth_["busy_ns"], "busy");
  ExpectSameTime(Row("(no operation)")["gpu_caused_ns"], truth_["busy_ns"], "caused by none");
  EXPECT_EQ(Row("inference")["gpu_caused_ns"], 0);
  EXPECT_EQ(Row("capture")["gpu_caused_ns"], 0);
  // It ran while the program waited for it, whoever launched it.
  ExpectSameTime(Row("inference")["gpu_busy_ns"], truth_["busy_ns"], "busy in inference");
}

TEST_F(DeviceFaults, AGraphRecordedAsAWholeDoesNotAskForTheIdsOfItsNodes) {
  Run({{"faults", {{"separate_graph_correlations", true}}}}, "graphs", kReplays,
      {"--graphs", "auto"});
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::kernels_without_launch), 0);
  ExpectSameTime(Row("inference")["gpu_caused_ns"], truth_["busy_ns"], "caused by inference");
}

// By a fiftieth: half a millisecond within the run, tens of microseconds before the first launch.
TEST_F(DeviceFaults, ADeviceClockThatFallsBehindIsDoubtful) {
  Train({{"faults", {{"device_skew_ppm", -20'000}}}});
  EXPECT_GT(LedgerOf(report_, LedgerCounter::work_before_launch), 0);
  EXPECT_THAT(Verdict(), HasSubstr("doubtful: GPU work"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("GPU work seems to begin up to"));
}

TEST_F(DeviceFaults, ADeviceClockThatRunsAheadIsDoubtful) {
  Train({{"faults", {{"device_skew_ppm", 20'000}}}});
  EXPECT_GT(LedgerOf(report_, LedgerCounter::work_after_wait), 0);
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::work_before_launch), 0);
  EXPECT_THAT(Verdict(), HasSubstr("doubtful: GPU work"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("GPU work seems to end up to"));
}

TEST_F(DeviceFaults, AClockThatIsRightIsNotDoubted) {
  Train({});
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::work_after_wait), 0);
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::work_before_launch), 0);
}

// As where a driver does not let it, and does not tell.
TEST_F(DeviceFaults, KernelsOfWhichCuptiTellsNothingAreUnknownTime) {
  constexpr uint32_t kConcurrentKernel = 10;  // of CUpti_ActivityKind
  Train({{"faults", {{"hidden_kind", kConcurrentKernel}}}});
  EXPECT_EQ(Kernels(), 0);
  EXPECT_THAT(Verdict(), HasSubstr("incomplete: GPU unknown"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("launched kernels by 60 calls"));
  const Json backpropagation = Row("backpropagation");
  EXPECT_EQ(backpropagation["unknown_ns"], backpropagation["wall_ns"]);
}

// As where CUPTI loses a buffer and does not count what was in it.
TEST_F(DeviceFaults, KernelsThatAreMissingBesideOthersAreUnknownTime) {
  constexpr uint32_t kConcurrentKernel = 10;  // of CUpti_ActivityKind
  Train({{"faults", {{"hidden_kind", kConcurrentKernel}, {"hidden_after", 45}}}});
  EXPECT_EQ(Kernels(), 45);
  EXPECT_THAT(Verdict(), HasSubstr("incomplete: GPU unknown"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("launched kernels by 15 calls whose kernels"));
  const Json backpropagation = Row("backpropagation");
  EXPECT_GT(backpropagation["unknown_ns"], 0);
  EXPECT_LT(backpropagation["unknown_ns"], backpropagation["wall_ns"]) << "known until the first";
}

// What it is called by CUPTI is no thread of the process: work cannot be told by who launched it.
TEST_F(DeviceFaults, ThreadsThatCuptiNamesOtherwiseAreDoubtful) {
  Train({{"faults", {{"truncated_thread_ids", true}}}});
  EXPECT_GT(LedgerOf(report_, LedgerCounter::foreign_thread_calls), 0);
  EXPECT_THAT(Verdict(), HasSubstr("doubtful: CUDA calls that CUPTI gave a thread id"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("names threads otherwise than the system does"));
}

class DeviceDrift : public DeviceFaults, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(PartsPerMillion, DeviceDrift, testing::Values(-20'000, 20'000),
                         [](const auto& drift) { return drift.param < 0 ? "behind" : "ahead"; });

// Whose work it is does not depend on when it ran; how long it took is wrong by that much. The
// flushes at the end keep the process alive for longer than its last work seems to be late.
TEST_P(DeviceDrift, ChangesLengthsAndNotWhoCausedThem) {
  Train({{"faults", {{"device_skew_ppm", GetParam()}}}, {"overhead", {{"flush_ns", 200'000'000}}}});
  const auto drifted = [](int64_t ns) { return ns + ns * GetParam() / 1'000'000; };
  ExpectSameTime(Row("inference")["gpu_caused_ns"],
                 drifted(BusyNsOf(truth_, {"memcpy", "policy_forward"})), "inference");
  ExpectSameTime(Row("backpropagation")["gpu_caused_ns"],
                 drifted(BusyNsOf(truth_, {"policy_backward", "optimizer_step"})),
                 "backpropagation");
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::kernels_without_launch), 0);
}

TEST_F(DeviceFaults, AnNvmlThatCannotBeInitialisedIsSaidAndCostsNothingElse) {
  constexpr int kDriverNotLoaded = 9;  // of nvmlReturn_t
  Train({{"nvml", {{"init_error", kDriverNotLoaded}}}});
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::nvml_unavailable), 1);
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("not sampled: nvmlInit_v2 failed with 9"));
  EXPECT_TRUE(report_["devices"][0]["simulated_utilization"].is_null());
  EXPECT_EQ(Kernels(), kIterations * kKernels);
  ExpectSameTime(report_["processes"][0]["gpu_busy_ns"], truth_["busy_ns"], "busy");
  EXPECT_THAT(Verdict(), HasSubstr("nothing was lost"));
}

// As in a container with pids of its own; training_run_test.cc has the same where it is listed.
TEST_F(DeviceFaults, WhereNvmlDoesNotListTheProgramItTellsOfNoOthers) {
  Run({{"nvml", {{"lists_itself", false}, {"other_pid", 1}}}}, "train", 30);
  EXPECT_EQ(Count("device_client WHERE client_pid = 1"), 1) << "it was listed";
  EXPECT_TRUE(report_["devices"][0]["not_profiled"].empty());
  EXPECT_FALSE(report_["run"]["gpu_busy_is_lower_bound"].get<bool>());
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::processes_not_profiled), 0);
}

TEST_F(DeviceFaults, FlushesThatTakeLongLoseNothing) {
  constexpr int kLaunches = 5000;
  Run({{"overhead", {{"flush_ns", 250'000'000}}}}, "storm", kLaunches);
  EXPECT_EQ(Kernels(), kLaunches);
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::undelivered_device_buffers), 0);
  EXPECT_EQ(Calls("cudaLaunchKernel"), kLaunches);
  EXPECT_THAT(Verdict(), HasSubstr("nothing was lost"));
}

// The test's deadline is far below ten minutes.
TEST_F(DeviceFaults, AFlushThatDoesNotReturnDelaysTheEndByTheDeadlineOnlyAndTimeIsUnknown) {
  Train({{"overhead", {{"flush_ns", 600'000'000'000}}}});
  EXPECT_GT(LedgerOf(report_, LedgerCounter::undelivered_device_buffers), 0);
  const Json backpropagation = Row("backpropagation");
  EXPECT_EQ(backpropagation["count"], kIterations);
  EXPECT_EQ(backpropagation["unknown_ns"], backpropagation["wall_ns"]);
  EXPECT_THAT(Verdict(), HasSubstr("incomplete: CUPTI buffers still outstanding"));
}

}  // namespace
}  // namespace gpubound
