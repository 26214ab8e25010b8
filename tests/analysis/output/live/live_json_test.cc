// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound top --json` prints.
#include "analysis/output/live/live_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace gpubound {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(GlanceJson, HasAllThatAGlanceHasInSeconds) {
  LiveGlance glance;
  glance.windows_ns = {kSecond, 10 * kSecond, 60 * kSecond};
  glance.simulated = true;
  glance.age_ns = kSecond / 2;
  glance.devices.push_back({"H100", {kSecond / 2, 4 * kSecond, 30 * kSecond}});
  LiveGlance::ProcessRow& row = glance.processes.emplace_back();
  row.name = "python3";
  row.pid = 100;
  row.busy_ns = {0, kSecond, 0};
  row.host = "node0";
  row.rank = 3;
  row.operations.push_back({"simulation\n\xff", {kSecond / 4, 5 * kSecond, 30 * kSecond}});
  row.steps = {2, 20, 120};
  row.work.push_back({"env_steps", {20, 200, 1200}});
  row.lines.push_back({"/home/me/train.py", 88, "act", {0.5, 0.25, 0.125}});
  const std::string text = RenderGlanceJson(glance, "train.gpubound");
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
  const auto said = nlohmann::json::parse(text);
  EXPECT_EQ(said["format"], "gpubound.top.v1");
  EXPECT_EQ(said["run"], "train.gpubound");
  EXPECT_EQ(said["simulated"], true);
  EXPECT_EQ(said["windows_s"], nlohmann::json::parse("[1.0, 10.0, 60.0]"));
  EXPECT_EQ(said["age_s"], 0.5);
  EXPECT_EQ(said["devices"][0]["busy_s"], nlohmann::json::parse("[0.5, 4.0, 30.0]"));
  EXPECT_EQ(said["leading"], 0);
  const auto& process = said["processes"][0];
  EXPECT_EQ(process["pid"], 100);
  EXPECT_EQ(process["host"], "node0");
  EXPECT_EQ(process["rank"], 3);
  EXPECT_EQ(process["operations"][0]["s"], nlohmann::json::parse("[0.25, 5.0, 30.0]"));
  EXPECT_EQ(process["iterations"], nlohmann::json::parse("[2, 20, 120]"));
  EXPECT_EQ(process["work"][0]["done"], nlohmann::json::parse("[20, 200, 1200]"));
  EXPECT_EQ(process["lines"], nlohmann::json::parse(R"([{"file": "/home/me/train.py", "line": 88,
                                  "function": "act", "share": [0.5, 0.25, 0.125]}])"));
  EXPECT_TRUE(process["age_s"].is_null());
  EXPECT_TRUE(process["operation"].is_null());
  EXPECT_EQ(process["gpu_busy_s"], nlohmann::json::parse("[0.0, 1.0, 0.0]"));
}

TEST(GlanceJson, OfARunWithoutProcessesHasNone) {
  const auto said = nlohmann::json::parse(RenderGlanceJson({}, "r"));
  EXPECT_TRUE(said["processes"].empty());
  EXPECT_TRUE(said["leading"].is_null());
}

}  // namespace
}  // namespace gpubound
