// SPDX-License-Identifier: Apache-2.0
//
// CUDA graphs at each level of detail, through the shipped command, against what the simulated
// device says really ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

constexpr int kReplays = 20;

class RecordedGraphs : public CommandRun {
 protected:
  RecordedGraphs() { runner().Set("GPUBOUND_SIM_TRUTH", File("truth.json")); }

  void RunGraphs(const std::string& level, const std::string& action = "graphs") {
    const Outcome outcome = Gpubound({"run", "--graphs", level, "-o", run_path(), "--",
                                      GPUBOUND_TEST_VICTIM, action, std::to_string(kReplays)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    truth_ = Json::parse(ReadText(File("truth.json")));
  }

  Json truth_;
};
class GraphRun : public RecordedGraphs, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Levels, GraphRun, testing::Values("node", "graph", "auto"));

TEST_P(GraphRun, TheOperationThatLaunchesAGraphHasItsTime) {
  RunGraphs(GetParam());
  const Json report = Report();
  ExpectExactPartition(report);
  const Json& process = report["processes"][0];
  // The kernels of this graph follow each other at once, so that here the whole is no longer than
  // its parts; clocks as in training_run_test.cc.
  const auto busy = truth_["busy_ns"].get<double>();
  EXPECT_NEAR(RowOf(process, "inference")["gpu_caused_ns"].get<double>(), busy, busy / 1000 + 1000);
  EXPECT_EQ(RowOf(process, "capture")["gpu_caused_ns"], 0);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::kernels_without_launch), 0);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::graphs_before_recording), 0);
}

TEST_P(GraphRun, AGraphThatWasRecordedAsAWholeIsSaid) {
  RunGraphs(GetParam());
  const bool whole = std::string(GetParam()) != "node";
  EXPECT_EQ(LedgerOf(Report(), LedgerCounter::graphs_recorded_whole), whole ? kReplays : 0);
}

TEST_P(GraphRun, GpuBusyIsAnUpperBoundWhereGraphsWereRecordedAsAWhole) {
  RunGraphs(GetParam());
  const bool whole = std::string(GetParam()) != "node";
  const Json report = Report();
  EXPECT_EQ(report["run"]["gpu_busy_is_upper_bound"], whole);
  EXPECT_EQ(RowOf(report["processes"][0], "inference")["gpu_caused_is_upper_bound"], whole);
  EXPECT_EQ(RowOf(report["processes"][0], "capture")["gpu_caused_is_upper_bound"], false);
}

// The clocks are those of training_run_test.cc.
TEST_P(GraphRun, TheOperationThatLaunchesAnUpdatedGraphHasItsTime) {
  RunGraphs(GetParam(), "updates");
  const Json report = Report();
  ExpectExactPartition(report);
  const Json& process = report["processes"][0];
  ExpectSameTime(RowOf(process, "inference")["gpu_caused_ns"], truth_["busy_ns"], "inference");
  EXPECT_EQ(RowOf(process, "capture")["gpu_caused_ns"], 0);
  EXPECT_EQ(RowOf(process, "recapture")["gpu_caused_ns"], 0);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::kernels_without_launch), 0);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::graphs_before_recording), 0);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::graph_launches_lost), 0);
}

TEST_F(RecordedGraphs, NodesOfAnUpdatedGraphAreTheKernelsThatRan) {
  RunGraphs("node", "updates");
  const Json report = Report();
  std::map<std::string, int> kernels;
  for (const Json& kernel : report["processes"][0]["kernels"]) {
    EXPECT_EQ(kernel["operation"], "inference");
    kernels[kernel["name"]] += kernel["count"].get<int>();
  }
  const std::map<std::string, int> expected = {{"policy_forward", kReplays},
                                               {"policy_backward", kReplays},
                                               {"optimizer_step", 2 * kReplays}};
  EXPECT_EQ(kernels, expected);
}

TEST_F(RecordedGraphs, AutomaticallyKnowTheNodesOfAnUpdatedGraph) {
  RunGraphs("auto", "updates");
  const std::string kernels = Report()["processes"][0]["kernels"].dump();
  EXPECT_THAT(kernels, testing::HasSubstr("policy_forward or policy_backward"));
  EXPECT_THAT(kernels, testing::Not(testing::HasSubstr("\"captured_in\":\"capture\"")));
}

// CUPTI does not tell of updates there: what is said of the nodes is what was instantiated.
TEST_F(RecordedGraphs, BeforeCuda13TheNodesOfAnUpdatedGraphAreThoseItWasMadeOf) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"cupti": "12.8"})");
  RunGraphs("auto", "updates");
  const Json report = Report();
  const std::string kernels = report["processes"][0]["kernels"].dump();
  EXPECT_THAT(kernels, testing::HasSubstr("policy_forward"));
  EXPECT_THAT(kernels, testing::Not(testing::HasSubstr("policy_backward")));
  ExpectSameTime(RowOf(report["processes"][0], "inference")["gpu_caused_ns"], truth_["busy_ns"],
                 "inference");
}

// As XLA makes them: nodes are added and not captured.

TEST_F(RecordedGraphs, AutomaticallyKnowNodesThatTheProgramAddsItself) {
  runner().Set("GPUBOUND_TEST_DRIVER_NAMES", GPUBOUND_TEST_DRIVER_NAMES);
  RunGraphs("auto", "added");
  const Json report = Report();
  const std::string kernels = report["processes"][0]["kernels"].dump();
  EXPECT_THAT(kernels, testing::HasSubstr("policy_forward or policy_backward"));
  EXPECT_THAT(kernels, testing::HasSubstr("optimizer_step"));
  EXPECT_THAT(kernels, testing::HasSubstr("\"captured_in\":\"capture\""));
  EXPECT_THAT(report["notes"].dump(), testing::Not(testing::HasSubstr("have no name")));
  ExpectSameTime(RowOf(report["processes"][0], "inference")["gpu_caused_ns"], truth_["busy_ns"],
                 "inference");
}

TEST_F(RecordedGraphs, NodesWithoutANameAreCountedInANote) {
  RunGraphs("auto", "added");
  EXPECT_THAT(Report()["notes"].dump(),
              testing::HasSubstr("2 kernels in CUDA graphs have no name"));
}

TEST_F(RecordedGraphs, NodesThatTheProgramAddsItselfAreTheKernelsThatRan) {
  RunGraphs("node", "added");
  const Json report = Report();
  std::map<std::string, int> kernels;
  for (const Json& kernel : report["processes"][0]["kernels"]) {
    kernels[kernel["name"]] += kernel["count"].get<int>();
  }
  const std::map<std::string, int> expected = {{"policy_backward", kReplays},
                                               {"optimizer_step", kReplays}};
  EXPECT_EQ(kernels, expected);
  EXPECT_THAT(report["notes"].dump(), testing::Not(testing::HasSubstr("have no name")));
}

TEST_F(RecordedGraphs, AutomaticallyHaveTheirNodesInTheReport) {
  RunGraphs("auto");
  const Json kernels = Report()["processes"][0]["kernels"];
  const auto graph = std::find_if(kernels.begin(), kernels.end(), [](const Json& kernel) {
    return kernel["operation"] == "inference" && kernel.contains("nodes");
  });
  ASSERT_NE(graph, kernels.end()) << kernels;
  EXPECT_EQ((*graph)["count"], kReplays);
  EXPECT_EQ((*graph)["nodes"][0]["captured_in"], "capture");
  EXPECT_EQ((*graph)["nodes"][0]["class"], "compute");
}

}  // namespace
}  // namespace gpubound
