// SPDX-License-Identifier: Apache-2.0
//
// Runs of many ranks, as numbers of which one is known to be long.
#include "analysis/report/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report_json.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSlow = 13;
constexpr int64_t kMs = 1'000'000;

// Ranks of eight to a host; rank i is i us longer in "update" than the first, rank kSlow 1 s.
Report ReportOfRanks(size_t ranks) {
  Report report;
  report.device_kind = "real";
  for (size_t i = 0; i < ranks; ++i) {
    ReportProcess& process = report.processes.emplace_back();
    process.host = "node" + std::to_string(i / 8);
    process.pid = 1000 + static_cast<int64_t>(i % 8);
    process.name = "train.py";
    process.gpu_busy_ns = kMs;
    const int64_t update_ns =
        100 * kMs + static_cast<int64_t>(i) * 1000 + (i == kSlow ? 1000 * kMs : 0);
    process.cells.push_back({kNoPhase, "update", "python", "idle", update_ns - kMs});
    process.cells.push_back({kNoPhase, "update", "backend", "compute", kMs});
    process.span_ns = update_ns;
    ReportOperation& operation = process.operations.emplace_back();
    operation.operation = "update";
    operation.wall_ns = update_ns;
    ReportRank& rank = report.ranks.emplace_back();
    rank.host = process.host;
    rank.pid = process.pid;
    rank.rank = static_cast<int64_t>(i);
    rank.collectives = 100;
    rank.late = i == kSlow ? 97 : i < 3 ? 1 : 0;
    rank.waited_for_ns = static_cast<int64_t>(rank.late) * kMs;
  }
  return report;
}

size_t LinesOf(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Distribution, PercentilesAreTimesOfRanksAndEndsSayWhoseTheyAre) {
  const Report report = ReportOfRanks(200);
  const Distribution distribution = DistributionOf(report);
  ASSERT_EQ(distribution.rows.size(), 3u);
  const DistributionRow& update = distribution.rows[0];
  EXPECT_EQ(update.layer, "");
  EXPECT_EQ(update.wall.min_ns, 100 * kMs);
  EXPECT_EQ(update.wall.min_process, 0u);
  EXPECT_EQ(update.wall.p5_ns, 100 * kMs + 9'000);
  EXPECT_EQ(update.wall.median_ns, 100 * kMs + 100'000);  // kSlow is not below it
  EXPECT_EQ(update.wall.p95_ns, 100 * kMs + 190'000);
  EXPECT_EQ(update.wall.max_process, kSlow);
  EXPECT_EQ(distribution.rows[1].layer, "python");
  EXPECT_EQ(distribution.rows[2].layer, "backend");
}

TEST(Distribution, ARankThatWasNeverInAnOperationCountsAsZero) {
  Report report = ReportOfRanks(20);
  report.processes[4].cells.push_back({kNoPhase, "saving", "python", "idle", 7 * kMs});
  const Distribution distribution = DistributionOf(report);
  const DistributionRow& saving = distribution.rows[3];
  ASSERT_EQ(saving.operation, "saving");
  EXPECT_EQ(saving.wall.median_ns, 0);
  EXPECT_EQ(saving.wall.max_ns, 7 * kMs);
  EXPECT_EQ(saving.wall.max_process, 4u);
}

TEST(Distribution, ProcessesThatRunNoCollectivesAreNotCountedBesideRanks) {
  Report report = ReportOfRanks(8);
  report.processes.emplace_back().host = "node0";
  EXPECT_EQ(DistributionOf(report).processes.size(), 8u);
  report.ranks.clear();
  EXPECT_EQ(DistributionOf(report).of, "gpu_processes");
  EXPECT_EQ(DistributionOf(report).processes.size(), 8u);
}

TEST(Distribution, EachMachineHasItsOwn) {
  const Distribution distribution = DistributionOf(ReportOfRanks(24));
  ASSERT_EQ(distribution.machines.size(), 3u);
  EXPECT_EQ(distribution.machines[1].host, "node1");
  EXPECT_EQ(distribution.machines[1].processes.size(), 8u);
  EXPECT_EQ(distribution.machines[1].rows[0].wall.max_process, kSlow);
  EXPECT_EQ(distribution.machines[2].rows[0].wall.min_process, 16u);
}

TEST(Distribution, TheSlowestRanksSayHowOftenTheyWereLast) {
  const Distribution distribution = DistributionOf(ReportOfRanks(64));
  ASSERT_EQ(distribution.slowest.size(), 4u);
  EXPECT_EQ(distribution.slowest[0].process, kSlow);
  EXPECT_EQ(distribution.slowest[0].late, 97u);
  EXPECT_EQ(distribution.collectives, 100u);
}

TEST(Distribution, JsonOf512RanksHasItAndTheProcessesThatItNames) {
  const Json json = Json::parse(RenderJson(ReportOfRanks(512), kMostJsonProcesses));
  EXPECT_EQ(json["distribution"]["processes"], 512);
  EXPECT_EQ(json["distribution"]["rows"][0]["max_of"]["rank"], kSlow);
  EXPECT_EQ(json["processes"].size(), kMostJsonProcesses);
  EXPECT_EQ(json["processes_left_out"], 512 - kMostJsonProcesses);
  EXPECT_EQ(json["ranks"].size(), kMostJsonProcesses);
  EXPECT_EQ(json["ranks_left_out"], 512 - kMostJsonProcesses);
  EXPECT_TRUE(std::any_of(json["processes"].begin(), json["processes"].end(), [](const Json& row) {
    return row["host"] == "node1" && row["pid"] == 1005;  // kSlow
  }));
  EXPECT_EQ(Json::parse(RenderJson(ReportOfRanks(512)))["processes"].size(), 512u);
}

TEST(Distribution, JsonHasTheDevicesOfTheProcessesThatItHas) {
  Report report = ReportOfRanks(512);
  for (const ReportProcess& process : report.processes) {
    ReportDevice& device = report.devices.emplace_back();
    device.uuid = "GPU-" + process.host + "-" + std::to_string(process.pid);
    device.processes.emplace_back().host = process.host;
    device.processes.back().pid = process.pid;
    report.operation_devices.emplace_back().device = device.uuid;
  }
  const Json json = Json::parse(RenderJson(report, kMostJsonProcesses));
  ASSERT_EQ(json["devices"].size(), kMostJsonProcesses);
  EXPECT_EQ(json["devices_left_out"], 512 - kMostJsonProcesses);
  ASSERT_EQ(json["operation_devices"].size(), kMostJsonProcesses);
  for (size_t i = 0; i < kMostJsonProcesses; ++i) {
    const Json& process = json["processes"][i];
    EXPECT_EQ(json["devices"][i]["processes"][0]["pid"], process["pid"]);
    EXPECT_EQ(json["operation_devices"][i]["device"], json["devices"][i]["uuid"]);
  }
  const Json all = Json::parse(RenderJson(report));
  EXPECT_EQ(all["devices"].size(), 512u);
  EXPECT_EQ(all["devices_left_out"], 0);
  EXPECT_EQ(all["operation_devices"].size(), 512u);
}

TEST(Distribution, TextOf512RanksIsWithin60LinesAndNamesTheSlowest) {
  TextOptions options;
  EXPECT_LE(LinesOf(RenderText(ReportOfRanks(512), options)), 60u);
  options.full = true;
  options.width = 120;
  const std::string text = RenderText(ReportOfRanks(512), options);
  EXPECT_NE(text.find("Over 512 ranks"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 13 on node1 was the last rank in 97 of 100 collectives"),
            std::string::npos)
      << text;
  // Ranks beyond those that a table has room for add no line.
  EXPECT_EQ(LinesOf(text), LinesOf(RenderText(ReportOfRanks(128), options)));
}

}  // namespace
}  // namespace gpubound
