// SPDX-License-Identifier: Apache-2.0
//
// The report JSON against the list of keys that others rely on.
#include "analysis/report/report_json.h"
#include "analysis/trace/row_names.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

Report FullReport() {
  Report report;
  report.device_kind = "real";
  report.run.root = 100;
  report.run.root_host = "host";
  ReportProcess process;
  process.host = "host";
  process.pid = 100;
  process.span_end = SpanEnd::kLastEvent;
  process.cells.push_back({kNoPhase, "op", "python", "idle", 10});
  ReportOperation row;
  row.operation = "op";
  row.transitions = {{"python->backend", 2}};
  process.operations.push_back(row);
  process.corrected_why_not = "not calibrated";
  process.operations[0].device_idle = {{"launch", 7}};
  process.launches.lead_median_ns = 1'200;
  process.iterations.emplace();
  process.iterations->operations.push_back({"op", 10, 5, 0});
  process.iterations->slowest.push_back({3, 1, 10, 5});
  process.lanes.push_back({"actor", 7, process.cells, process.operations});
  process.device_shares.push_back({"GPU-1", 0, "op", 10, 5, 5, 0, {{"launch", 5}}});
  process.gaps.push_back(
      {"GPU-1", 0, 1, 2, "launch", "op", "python", "op", "python", "k", "k", "", 0});
  process.waits.push_back({{101}, "op", 4});
  process.waits.push_back({{101, 102}, "op", 2});
  ReportKernel kernel;
  kernel.name = "k";
  kernel.work_class = "compute";
  kernel.count = 3;
  kernel.sm_fill_is_upper_bound = true;
  process.operation_kernels.push_back({"op", kernel});
  process.awaited.push_back({101, "op", true, 6, {{"op", "python", 6}}});
  report.processes.push_back(process);
  report.devices.emplace_back().uuid = "GPU-1";
  report.diagnosis.emplace_back().gain = "It would save 12 %.";
  report.diagnosis.back().saving.emplace();
  report.ledger.push_back({"events_salvaged", 1, Severity::kInfo, "Help."});
  report.notes.emplace_back("a note");
  return report;
}

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

class ReportJsonTest : public testing::Test {
 protected:
  Json json_ = Json::parse(RenderJson(FullReport()));
};

TEST_F(ReportJsonTest, TopHasEveryKeyInOrder) {
  EXPECT_EQ(KeysOf(json_),
            (Keys{"format", "device_kind", "run", "diagnosis", "processes", "devices", "ledger",
                  "notes", "operation_devices", "ranks", "not_counted", "distribution",
                  "processes_left_out", "devices_left_out", "ranks_left_out"}));
  EXPECT_EQ(json_["notes"], Json({"a note"}));
  EXPECT_EQ(json_["format"], "gpubound.report.v1");
}

TEST_F(ReportJsonTest, RunHasEveryKeyInOrder) {
  EXPECT_EQ(KeysOf(json_["run"]), (Keys{"root",
                                        "wall_ns",
                                        "devices_used",
                                        "gpu_busy_share",
                                        "compute_share",
                                        "comm_share",
                                        "copy_share",
                                        "gpu_limited_share",
                                        "verdict",
                                        "headline",
                                        "headline_ns",
                                        "nvml_utilization",
                                        "whole_gpu_busy_share",
                                        "work_ns",
                                        "work_gpu_busy_share",
                                        "parts",
                                        "devices_unused",
                                        "critical_path",
                                        "savings",
                                        "what_if",
                                        "exit_code",
                                        "signal",
                                        "gpu_busy_is_upper_bound",
                                        "whole_gpu_busy_is_upper_bound",
                                        "gpu_busy_is_lower_bound",
                                        "steps",
                                        "unknown_share",
                                        "unknown_is_upper_bound",
                                        "whole_unknown_share",
                                        "whole_unknown_is_upper_bound",
                                        "root_host",
                                        "metadata",
                                        "training"}));
  EXPECT_TRUE(json_["run"]["critical_path"].is_null());
  EXPECT_TRUE(json_["run"]["gpu_limited_share"].is_null());
}

// What CI and agents switch on.
TEST_F(ReportJsonTest, AFindingHasKindSeverityEvidenceActionSavingAndGain) {
  const Json& finding = json_["diagnosis"][0];
  EXPECT_EQ(KeysOf(finding), (Keys{"kind", "severity", "share", "finding", "action", "operation",
                                   "evidence", "saving", "gain"}));
  EXPECT_EQ(finding["gain"], "It would save 12 %.");
  EXPECT_EQ(KeysOf(finding["saving"]),
            (Keys{"part", "name", "factor", "wall_ns", "saves", "saves_low", "saves_high", "of"}));
}

TEST_F(ReportJsonTest, ProcessHasEveryKeyInOrder) {
  EXPECT_EQ(KeysOf(json_["processes"][0]), (Keys{"host",
                                                 "pid",
                                                 "rank",
                                                 "name",
                                                 "parent",
                                                 "start_ns",
                                                 "span_ns",
                                                 "cells",
                                                 "operations",
                                                 "gpu_busy_ns",
                                                 "gpu_wait_ns",
                                                 "gpu_sum_ns",
                                                 "smi_model",
                                                 "inflation",
                                                 "corrected",
                                                 "corrected_why_not",
                                                 "iterations",
                                                 "lanes",
                                                 "devices",
                                                 "gaps",
                                                 "waits",
                                                 "awaited",
                                                 "sm_fill_is_upper_bound",
                                                 "kernels",
                                                 "counters",
                                                 "gpu_busy_is_upper_bound",
                                                 "process_tree",
                                                 "span_end",
                                                 "queued_gaps",
                                                 "event_wait_gaps",
                                                 "launches",
                                                 "throughput",
                                                 "cpu",
                                                 "threads_cpu",
                                                 "stacks",
                                                 "sync_lines",
                                                 "categories",
                                                 "ops",
                                                 "training"}));
  EXPECT_EQ(json_["processes"][0]["span_end"], "last event");
  EXPECT_TRUE(json_["processes"][0]["parent"].is_null());
  EXPECT_TRUE(json_["processes"][0]["inflation"].is_null());
  EXPECT_TRUE(json_["processes"][0]["corrected"].is_null());
  EXPECT_EQ(json_["processes"][0]["corrected_why_not"], "not calibrated");
}

TEST_F(ReportJsonTest, CellHasEveryKeyInOrder) {
  EXPECT_EQ(
      KeysOf(json_["processes"][0]["cells"][0]),
      (Keys{"phase", "operation", "layer", "gpu", "ns", "waiting_ns", "gpu_busy_is_upper_bound"}));
}

TEST_F(ReportJsonTest, OperationHasEveryKeyInOrder) {
  const Json& row = json_["processes"][0]["operations"][0];
  EXPECT_EQ(KeysOf(row), (Keys{"operation",
                               "wall_ns",
                               "cpu_only_ns",
                               "cpu_gpu_ns",
                               "gpu_only_ns",
                               "waiting_ns",
                               "idle_ns",
                               "unknown_ns",
                               "gpu_busy_ns",
                               "gpu_compute_ns",
                               "gpu_comm_ns",
                               "gpu_copy_ns",
                               "gpu_wait_ns",
                               "gpu_caused_ns",
                               "gpu_sum_ns",
                               "sm_filled_ns",
                               "count",
                               "inclusive_wall_ns",
                               "transitions",
                               "device_idle",
                               "inherited",
                               "gpu_busy_is_upper_bound",
                               "gpu_caused_is_upper_bound",
                               "gpu_caused_is_lower_bound",
                               "scopes_missing",
                               "other_threads_only",
                               "launches",
                               "cpu"}));
  EXPECT_EQ(KeysOf(row["launches"]),
            (Keys{"count", "lead_mean_ns", "lead_median_ns", "lead_p95_ns", "depth_mean",
                  "depth_median", "depth_p95", "shorter_kernels_share"}));
  EXPECT_TRUE(row["launches"]["lead_mean_ns"].is_null());
  EXPECT_EQ(row["transitions"]["python->backend"], 2);
}

TEST_F(ReportJsonTest, DeviceAndLedgerHaveEveryKeyInOrder) {
  EXPECT_EQ(KeysOf(json_["devices"][0]),
            (Keys{"uuid", "name", "busy_ns", "span_ns", "nvml_utilization", "used", "smi_model",
                  "inflation", "processes", "busy_is_upper_bound", "not_profiled",
                  "has_unknown_time", "busy_is_lower_bound", "simulated_utilization",
                  "host_outside_run", "memory_bytes", "memory_peak_bytes"}));
  EXPECT_EQ(KeysOf(json_["ledger"][0]), (Keys{"counter", "value", "severity", "help"}));
  EXPECT_EQ(json_["ledger"][0]["severity"], "info");
}

TEST_F(ReportJsonTest, IterationsHaveEveryKeyInOrder) {
  const Json& iterations = json_["processes"][0]["iterations"];
  EXPECT_EQ(KeysOf(iterations), (Keys{"warm_up", "count", "start_up_ns", "warm_up_ns", "total_ns",
                                      "shutdown_ns", "mean_ns", "median_ns", "p95_ns",
                                      "gpu_busy_ns", "naming", "operations", "slowest"}));
  EXPECT_EQ(KeysOf(iterations["naming"]),
            (Keys{"program_ns", "rules_ns", "waiting_ns", "stage_ns", "none_ns"}));
  EXPECT_EQ(KeysOf(iterations["operations"][0]),
            (Keys{"operation", "wall_ns", "gpu_busy_ns", "unknown_ns"}));
  EXPECT_EQ(KeysOf(iterations["slowest"][0]), (Keys{"number", "begin_ns", "ns", "gpu_busy_ns"}));
}

TEST_F(ReportJsonTest, LanesSharesGapsAndWaitsHaveEveryKeyInOrder) {
  const Json& process = json_["processes"][0];
  EXPECT_EQ(KeysOf(process["lanes"][0]),
            (Keys{"thread", "tid", "cells", "operations", "handed_over"}));
  EXPECT_EQ(KeysOf(process["devices"][0]),
            (Keys{"uuid", "ordinal", "operation", "wall_ns", "busy_ns", "idle_ns", "unknown_ns",
                  "idle_causes", "busy_is_upper_bound"}));
  EXPECT_EQ(
      KeysOf(process["gaps"][0]),
      (Keys{"uuid", "ordinal", "begin_ns", "ns", "cause", "operation_at_begin", "layer_at_begin",
            "operation_at_end", "layer_at_end", "work_before", "work_after"}));
  EXPECT_EQ(KeysOf(process["queued_gaps"]), (Keys{"count", "ns", "mean_ns"}));
  EXPECT_EQ(KeysOf(process["event_wait_gaps"]), (Keys{"count", "ns", "mean_ns"}));
  EXPECT_EQ(process["launches"]["lead_median_ns"], 1'200);
  EXPECT_EQ(KeysOf(process["waits"][0]), (Keys{"pid", "pids", "operation", "ns"}));
  EXPECT_EQ(process["waits"][0]["pid"], 101);
  EXPECT_TRUE(process["waits"][1]["pid"].is_null());
  EXPECT_EQ(process["waits"][1]["pids"], (std::vector<int>{101, 102}));
  EXPECT_EQ(KeysOf(process["awaited"][0]), (Keys{"pid", "operation", "worker", "ns", "meanwhile"}));
  EXPECT_EQ(KeysOf(process["awaited"][0]["meanwhile"][0]), (Keys{"operation", "layer", "ns"}));
  EXPECT_EQ(process["operations"][0]["device_idle"]["launch"], 7);
}

TEST_F(ReportJsonTest, WhatWasNotCountedIsNamedWithTheReason) {
  EXPECT_EQ(json_["not_counted"], Json::array());
  Report report = FullReport();
  report.not_counted = {{"api_calls_suppressed", "Why."}};
  const Json not_counted = Json::parse(RenderJson(report))["not_counted"];
  EXPECT_EQ(not_counted, Json::array({{{"counter", "api_calls_suppressed"}, {"why", "Why."}}}));
}

TEST_F(ReportJsonTest, KernelHasEveryKeyInOrder) {
  const Json& kernel = json_["processes"][0]["kernels"][0];
  EXPECT_EQ(KeysOf(kernel),
            (Keys{"operation", "name", "class", "count", "sum_ns", "mean_ns", "median_ns", "p95_ns",
                  "lengths_rounded", "sm_filled_ns", "sm_fill_is_upper_bound", "category", "op"}));
  EXPECT_EQ(kernel["operation"], "op");
  EXPECT_EQ(kernel["count"], 3);
  EXPECT_EQ(kernel["sm_fill_is_upper_bound"], true);
}

TEST_F(ReportJsonTest, AGraphWhoseNodesAreKnownHasThem) {
  Report report = FullReport();
  ReportKernel& graph = report.processes[0].operation_kernels[0].kernel;
  graph.nodes = {{"gemm", "compute", 2, "capture"}, {"(host function)", "", 1, kNoOperation}};
  const Json nodes = Json::parse(RenderJson(report))["processes"][0]["kernels"][0]["nodes"];
  EXPECT_EQ(KeysOf(nodes[0]), (Keys{"name", "class", "count", "captured_in"}));
  EXPECT_EQ(nodes[0]["count"], 2);
  EXPECT_TRUE(nodes[1]["class"].is_null());
}

TEST_F(ReportJsonTest, StacksHaveEveryKeyInOrder) {
  EXPECT_EQ(json_["processes"][0]["stacks"], Json::array());
  Report report = FullReport();
  ReportStacks& stacks = report.processes[0].stacks.emplace_back();
  stacks.operation = "inference";
  stacks.looks = 40;
  stacks.runnable_share = 0.75;
  stacks.parts.push_back({"Categorical.sample", "torch", "/p/c.py", 7, 10, 0.25, 0.134});
  stacks.frames.emplace_back();
  const Json json = Json::parse(RenderJson(report))["processes"][0]["stacks"][0];
  EXPECT_EQ(KeysOf(json), (Keys{"operation", "start_up", "looks", "runnable_share", "parts"}));
  EXPECT_EQ(KeysOf(json["parts"][0]),
            (Keys{"function", "package", "file", "line", "looks", "share", "error"}));
  EXPECT_EQ(json["parts"][0]["share"], 0.25);
}
TEST_F(ReportJsonTest, SyncLinesHaveEveryKeyInOrder) {
  EXPECT_EQ(json_["processes"][0]["sync_lines"], Json::array());
  Report report = FullReport();
  report.processes[0].sync_lines.push_back(
      {"rollout", {"Agent.act", "", "/p/ppo.py", 205, 10, 0.25, 0.134}});
  const Json json = Json::parse(RenderJson(report))["processes"][0]["sync_lines"][0];
  EXPECT_EQ(KeysOf(json),
            (Keys{"operation", "function", "package", "file", "line", "looks", "share", "error"}));
  EXPECT_EQ(json["line"], 205);
}
TEST_F(ReportJsonTest, TheTreeOfASampledProcessHasEveryKeyInOrder) {
  EXPECT_TRUE(json_["processes"][0]["process_tree"].is_null());
  Report report = FullReport();
  report.processes[0].process_tree = TreePeaks{3, 60, 4096, 20};
  const Json tree = Json::parse(RenderJson(report))["processes"][0]["process_tree"];
  EXPECT_EQ(KeysOf(tree), (Keys{"processes", "cpu_ns", "peak_resident_bytes", "run_delay_ns",
                                "run_delay_share"}));
  EXPECT_EQ(tree["run_delay_share"], 0.25);
}

TEST_F(ReportJsonTest, TimesAreIntegers) {
  EXPECT_TRUE(json_["run"]["wall_ns"].is_number_integer());
  EXPECT_TRUE(json_["processes"][0]["operations"][0]["sm_filled_ns"].is_number_integer());
}

TEST(ReportJson, EmptyReportIsStillComplete) {
  const Json json = Json::parse(RenderJson(Report{}));
  EXPECT_TRUE(json["processes"].is_array());
  EXPECT_TRUE(json["run"]["root"].is_null());
  EXPECT_EQ(json["device_kind"], "none");
}

TEST(ReportJson, ReplacesBytesThatAreNotUtf8) {
  Report report = FullReport();
  report.processes[0].cells[0].operation = "bad \xff name";
  const Json json = Json::parse(RenderJson(report));
  EXPECT_EQ(json["processes"][0]["cells"][0]["operation"], "bad \uFFFD name");
}

}  // namespace
}  // namespace gpubound
