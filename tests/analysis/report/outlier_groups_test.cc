// SPDX-License-Identifier: Apache-2.0
//
// Ranks of which some are made to lie apart.
#include "analysis/report/outlier_groups.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report_json.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr size_t kPerHost = 8;

// Ranks that take 1 s each: 400 ms in "simulation", up to 8 ms longer by rank, and the rest in "update".
class OutlierGroups : public testing::Test {
 protected:
  explicit OutlierGroups() {
    for (size_t i = 0; i < 64; ++i) {
      ReportProcess& process = report_.processes.emplace_back();
      process.host = "node" + std::to_string(i / kPerHost);
      process.pid = 1000 + static_cast<int64_t>(i % kPerHost);
      process.rank = static_cast<int64_t>(i);
      process.name = "train.py";
      process.span_ns = 1000 * kMs;
      Set(i, 400 * kMs + static_cast<int64_t>(i) * kMs / 8);
      ReportRank& rank = report_.ranks.emplace_back();
      rank.host = process.host;
      rank.pid = process.pid;
      rank.rank = process.rank;
    }
  }

  void Set(size_t process, int64_t simulation_ns) {
    std::vector<ReportCell>& cells = report_.processes[process].cells;
    cells.clear();
    cells.push_back({kNoPhase, "simulation", "python", "idle", simulation_ns});
    cells.push_back({kNoPhase, "update", "python", "idle", 1000 * kMs - simulation_ns});
  }

  std::vector<OutlierGroup> Groups(size_t ranks = 64) const {
    std::vector<size_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    return OutlierGroupsOf(report_, all, TimesOf(report_, all));
  }

  // Of the only group.
  OutlierGroup Group() const {
    const std::vector<OutlierGroup> groups = Groups();
    EXPECT_EQ(groups.size(), 1u);
    return groups.empty() ? OutlierGroup() : groups.front();
  }

  Report report_;
};

TEST_F(OutlierGroups, RanksThatAreAlikeHaveNone) { EXPECT_TRUE(Groups().empty()); }

TEST_F(OutlierGroups, OneRankIsApartInWhatItTakesLongerForAndInWhatItHasLessTimeFor) {
  Set(13, 700 * kMs);
  const OutlierGroup group = Group();
  EXPECT_EQ(group.processes, std::vector<size_t>{13});
  ASSERT_EQ(group.times.size(), 2u);
  EXPECT_EQ(group.times[0].operation, "simulation");
  EXPECT_EQ(group.times[0].median_ns, 700 * kMs);
  EXPECT_EQ(group.times[0].others_median_ns, 404 * kMs);
  EXPECT_EQ(group.times[1].operation, "update");
  EXPECT_EQ(group.times[1].median_ns, 300 * kMs);
  EXPECT_TRUE(group.hosts.empty());
  EXPECT_FALSE(group.local_rank);
}

TEST_F(OutlierGroups, AllRanksOfAMachineAreCalledByIt) {
  for (size_t i = 16; i < 24; ++i) Set(i, 800 * kMs + static_cast<int64_t>(i) * kMs);
  const OutlierGroup group = Group();
  EXPECT_EQ(group.processes.size(), kPerHost);
  EXPECT_EQ(group.hosts, std::vector<std::string>{"node2"});
}

TEST_F(OutlierGroups, OneRankOfEachMachineAtOnePlaceIsALocalRank) {
  for (size_t i = 3; i < 64; i += kPerHost) Set(i, 450 * kMs);
  const OutlierGroup group = Group();
  EXPECT_EQ(group.processes.size(), 64 / kPerHost);
  EXPECT_EQ(group.local_rank, 3u);
  EXPECT_TRUE(group.hosts.empty());
}

TEST_F(OutlierGroups, OneRankOfEachMachineAtAnyPlaceIsNone) {
  for (size_t i = 3; i < 56; i += kPerHost) Set(i, 450 * kMs);
  Set(60, 450 * kMs);
  EXPECT_FALSE(Group().local_rank);
}

TEST_F(OutlierGroups, RanksOnAModelThatNoOtherRunsOnAreCalledByIt) {
  report_.devices.resize(2);
  report_.devices[0].uuid = "GPU-a";
  report_.devices[0].name = "NVIDIA A100";
  report_.devices[1].uuid = "GPU-h";
  report_.devices[1].name = "NVIDIA H100";
  for (size_t i = 0; i < 64; ++i) {
    ReportDeviceShare& share = report_.processes[i].device_shares.emplace_back();
    share.uuid = i % 5 == 0 ? "GPU-a" : "GPU-h";
    if (i % 5 == 0) Set(i, 600 * kMs);
  }
  EXPECT_EQ(Group().gpu, "NVIDIA A100");
  report_.processes[1].device_shares[0].uuid = "GPU-a";
  EXPECT_EQ(Group().gpu, "");
}

TEST_F(OutlierGroups, TwoDistancesAreTwoGroupsAndTheFurtherOneComesFirst) {
  Set(5, 500 * kMs);
  Set(40, 900 * kMs);
  Set(41, 905 * kMs);
  const std::vector<OutlierGroup> groups = Groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].processes, (std::vector<size_t>{40, 41}));
  EXPECT_EQ(groups[1].processes, std::vector<size_t>{5});
}

TEST_F(OutlierGroups, WhatIsNearerThanTheOthersAreWideIsNotApart) {
  // 400 to 463 ms, the last 45 ms further, which is more than 2 % but less than 63 ms.
  for (size_t i = 0; i < 64; ++i) Set(i, (400 + static_cast<int64_t>(i)) * kMs);
  Set(63, (462 + 45) * kMs);
  EXPECT_TRUE(Groups().empty());
  Set(63, (462 + 63) * kMs);
  EXPECT_EQ(Groups().size(), 1u);
}

TEST_F(OutlierGroups, WhatIsLessThanTwoPercentOfARanksTimeIsNotApart) {
  for (size_t i = 0; i < 64; ++i) Set(i, 400 * kMs);
  Set(7, 419 * kMs);
  EXPECT_TRUE(Groups().empty());
  Set(7, 420 * kMs);
  EXPECT_EQ(Groups().size(), 1u);
}

TEST_F(OutlierGroups, OfRanksOfWhichNoHalfIsAlikeNobodyIsApart) {
  for (size_t i = 0; i < 64; ++i) Set(i, static_cast<int64_t>(i % 3) * 300 * kMs);
  EXPECT_TRUE(Groups().empty());
}

TEST_F(OutlierGroups, OfTwoHalvesTheOneWithoutTheFirstRankIsTheGroup) {
  for (size_t i = 32; i < 64; ++i) Set(i, 600 * kMs);
  EXPECT_EQ(Group().hosts.size(), 4u);
  EXPECT_EQ(Group().processes.front(), 32u);
  ASSERT_EQ(Group().times.size(), 2u);
  EXPECT_EQ(Group().times[1].operation, "update");
}

TEST_F(OutlierGroups, OperationsThatSomeRanksNeverHaveCountAsZero) {
  report_.processes[0].cells.push_back({kNoPhase, "checkpoint", "python", "idle", 30 * kMs});
  const OutlierGroup group = Group();
  EXPECT_EQ(group.processes, std::vector<size_t>{0});
  EXPECT_EQ(group.times[0].operation, "checkpoint");
  EXPECT_EQ(group.times[0].others_median_ns, 0);
}

TEST_F(OutlierGroups, FewRanksAreNotLookedAt) {
  Set(3, 900 * kMs);
  EXPECT_TRUE(Groups(kFewestForOutliers - 1).empty());
  EXPECT_EQ(Groups(kFewestForOutliers).size(), 1u);
}

TEST_F(OutlierGroups, TheReportHasThemInTheJsonAndInItsTables) {
  for (size_t i = 16; i < 24; ++i) Set(i, 800 * kMs);
  const auto json = nlohmann::json::parse(RenderJson(report_, kMostJsonProcesses));
  const auto& group = json["distribution"]["outlier_groups"][0];
  EXPECT_EQ(group["processes"], kPerHost);
  EXPECT_EQ(group["of"][0]["rank"], 16);
  EXPECT_EQ(group["hosts"], nlohmann::json({"node2"}));
  EXPECT_TRUE(group["local_rank"].is_null());
  EXPECT_TRUE(group["gpu"].is_null());
  EXPECT_EQ(group["times"][0]["operation"], "simulation");
  EXPECT_EQ(group["times"][0]["median_ns"], 800 * kMs);
  EXPECT_EQ(group["times"][0]["others_median_ns"], 404'375'000);

  TextOptions options;
  options.full = true;
  const std::string text = RenderText(report_, options);
  EXPECT_NE(text.find("all 8 on node2"), std::string::npos) << text;
  EXPECT_NE(text.find("800 ms"), std::string::npos) << text;
}

}  // namespace
}  // namespace gpubound
