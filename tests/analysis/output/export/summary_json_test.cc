// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/export/summary_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/diagnosis/diagnosis_kinds.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

class SummaryJsonTest : public testing::Test {
 protected:
  SummaryJsonTest() {
    report_.run.root = 1;
    report_.run.wall_ns = 1'000'000'000;
    report_.run.verdict = "complete: nothing was lost";
    report_.run.headline = "iterations";
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = 0.123456;
    ReportDiagnosis& first = report_.diagnosis.emplace_back();
    first.kind = kLaunchBound;
    first.severity = "high";
    first.share = 0.7;
    first.finding = "Launch-bound: the GPU is idle 88 %.";
    first.action = "Capture the update as a CUDA graph.";
    first.operation = "update";
    first.evidence = {{"launch_share", 0.7000049}};
    first.saving = ReportSaving{"layer", "python", 0.5, 600, 0.4, 0.35, 0.45};
    first.gain = "Twice as fast, all Python code would save 40 % (35 to 45) of the run's time.";
    report_.run.savings = {*first.saving};
    ReportProcess& process = report_.processes.emplace_back();
    process.pid = 1;
    process.span_ns = 1'000'000'000;
    ReportIterations& iterations = process.iterations.emplace();
    iterations.count = 10;
    iterations.total_ns = 1000;
    iterations.median_ns = 100;
    iterations.p95_ns = 120;
    iterations.operations = {{"update", 700, 70, 0}, {"rollout", 300, 0, 0}};
    process.throughput = {{"env_steps", 2000, 2000.5, 1'000'000'000}};
  }
  Json Summary() const { return Json::parse(RenderSummaryJson(report_)); }

  Report report_;
};

TEST_F(SummaryJsonTest, HasVerdictEvidenceSavingRowsAndWhatToAskNext) {
  const Json summary = Summary();
  EXPECT_EQ(summary["format"], "gpubound.summary.v1");
  EXPECT_EQ(summary["run"]["data_quality"], "complete: nothing was lost");
  EXPECT_EQ(summary["run"]["gpu_busy_share"], 0.1235);
  EXPECT_EQ(summary["iterations"], Json::parse(R"({"count":10,"median_ns":100,"p95_ns":120})"));
  EXPECT_EQ(summary["throughput"][0]["per_second"], 2000.5);
  const Json& verdict = summary["diagnosis"][0];
  EXPECT_EQ(verdict["kind"], kLaunchBound);
  EXPECT_EQ(verdict["evidence"]["launch_share"], 0.7);
  EXPECT_EQ(verdict["saving"]["low"], 0.35);
  EXPECT_EQ(verdict["gain"], report_.diagnosis[0].gain);
  EXPECT_EQ(summary["operations"][0],
            Json::parse(R"({"operation":"update","wall_share":0.7,"gpu_busy_share":0.1})"));
  EXPECT_EQ(summary["savings"][0]["name"], "python");
  EXPECT_THAT(summary["next"], ElementsAre("gpubound report RUN --by operation,layer",
                                           "gpubound whatif RUN --graph-capture update"));
}

TEST_F(SummaryJsonTest, AProcessWithoutIterationsIsToldByItsSpan) {
  report_.run.headline = "span";
  report_.processes[0].iterations.reset();
  ReportOperation& row = report_.processes[0].operations.emplace_back();
  row.operation = "train";
  row.wall_ns = 250'000'000;
  const Json summary = Summary();
  EXPECT_TRUE(summary["iterations"].is_null());
  EXPECT_EQ(summary["operations"][0]["wall_share"], 0.25);
}

TEST_F(SummaryJsonTest, FitsHoweverMuchThereIs) {
  const std::string long_name(3000, 'x');
  for (int i = 0; i < 100; ++i) {
    report_.processes[0].iterations->operations.push_back({long_name, 1000, 10, 0});
    report_.processes[0].throughput.push_back({long_name, 1, 1, 1});
    report_.run.savings.push_back({"kernel", long_name, 0.5, 1, 0.1, 0.05, 0.15});
    report_.diagnosis.push_back(report_.diagnosis[0]);
    report_.diagnosis.back().finding = long_name + " " + long_name;
    report_.diagnosis.back().action = long_name + " and so on";
  }
  report_.run.verdict = "incomplete: " + std::string(5000, 'y');
  EXPECT_LE(RenderSummaryJson(report_).size(), kMostSummaryBytes);
  EXPECT_EQ(Summary()["diagnosis"][0]["kind"], kLaunchBound) << "what matters most stays";
}

TEST_F(SummaryJsonTest, NothingRecordedIsASummaryToo) {
  report_ = Report();
  report_.diagnosis.emplace_back().kind = kNothingRecorded;
  const Json summary = Summary();
  EXPECT_TRUE(summary["iterations"].is_null());
  EXPECT_TRUE(summary["operations"].empty());
  EXPECT_THAT(summary["next"], ElementsAre("gpubound doctor RUN"));
}

}  // namespace
}  // namespace gpubound
