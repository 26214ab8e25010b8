// SPDX-License-Identifier: Apache-2.0
//
// Which runs make a group of a figure, and the text of its SVG.
#include "analysis/output/page/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/base/xml_text.h"
#include "analysis/output/page/helvetica.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Metadata = std::map<std::string, std::string>;

class PlotTest : public testing::Test {
 protected:
  static Report ReportWith(const std::string& operation, int64_t idle_ns, uint64_t transitions) {
    Report report;
    ReportOperation& row = report.processes.emplace_back().operations.emplace_back();
    row.operation = operation;
    row.idle_ns = row.wall_ns = idle_ns;
    row.transitions = {{"python->backend", transitions}};
    return report;
  }
  void Add(const std::string& name, const Metadata& metadata, Report report) {
    reports_.push_back(std::make_unique<Report>(std::move(report)));
    runs_.push_back({name, metadata, reports_.back().get()});
  }
  std::vector<PlotGroup> Groups() { return GroupForPlot(runs_, {"algorithm", "environment"}); }

  std::vector<std::unique_ptr<Report>> reports_;
  std::vector<PlotRun> runs_;
};

TEST_F(PlotTest, RunsOfTheSameMetadataAreOneGroupAndItsMean) {
  const Metadata ppo = {{"algorithm", "PPO"}, {"environment", "Pong"}, {"seed", "1"}};
  Add("a", ppo, ReportWith("op", 10, 4));
  Add("b", {{"algorithm", "DQN"}, {"environment", "Pong"}}, ReportWith("op", 50, 1));
  Add("c", ppo, ReportWith("op", 30, 8));
  const std::vector<PlotGroup> groups = Groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "PPO, Pong");
  EXPECT_EQ(groups[0].runs, 2u);
  EXPECT_EQ(groups[0].operations[0].wall_ns(), 20);
  EXPECT_EQ(groups[0].operations[0].transitions.at("python->backend"), 6u);
}

TEST_F(PlotTest, AnOperationWithoutANameIsMarked) {
  Add("a", {}, ReportWith("", 10, 4));
  EXPECT_THAT(RenderPlot(Groups()), HasSubstr(">(empty name)</text>"));
}

TEST_F(PlotTest, AnOperationThatOneRunLacksIsZeroThere) {
  Add("a", {{"algorithm", "PPO"}}, ReportWith("one", 10, 0));
  Add("b", {{"algorithm", "PPO"}}, ReportWith("two", 30, 0));
  const PlotGroup group = Groups().at(0);
  EXPECT_EQ(group.operations[0].operation, "two");
  EXPECT_EQ(group.operations[0].wall_ns(), 15);
  EXPECT_EQ(group.operations[1].wall_ns(), 5);
}

TEST_F(PlotTest, RunsWithoutMetadataStandAloneEvenUnderOneName) {
  Add("run", {}, ReportWith("op", 10, 0));
  Add("run", {}, ReportWith("op", 10, 0));
  EXPECT_EQ(Groups().size(), 2u);
}

TEST_F(PlotTest, TheProcessWithTheMostDeviceTimeIsShown) {
  Report report = ReportWith("launcher", 10, 0);
  report.processes.push_back(ReportWith("trainer", 5, 0).processes[0]);
  report.processes[1].gpu_busy_ns = 1;
  Add("a", {}, report);
  EXPECT_EQ(Groups()[0].operations[0].operation, "trainer");
}

TEST_F(PlotTest, ARunWithoutProcessesIsAnEmptyGroup) {
  Add("a", {}, Report{});
  EXPECT_THAT(RenderPlot(Groups()), HasSubstr("</svg>"));
}

TEST_F(PlotTest, ASimulatedRunMarksItsGroup) {
  Report report = ReportWith("op", 10, 0);
  report.device_kind = "simulated";
  Add("a", {{"algorithm", "PPO"}}, report);
  EXPECT_THAT(RenderPlot(Groups()), HasSubstr("PPO - SIMULATED DEVICE"));
}

TEST_F(PlotTest, NamesOfAnyLengthLeaveRoomForTheirBothEnds) {
  const std::string name = "first" + std::string(5'000, 'W') + "last";
  Add(name, {}, ReportWith(name, 10, 0));
  const std::string svg = RenderPlot(Groups());
  EXPECT_THAT(svg, HasSubstr(">firstW"));
  EXPECT_THAT(svg, HasSubstr("Wlast</text>"));
  EXPECT_LT(svg.size(), 20'000u);
}

TEST_F(PlotTest, NamesDoNotSteerTheTextAroundThem) {
  Add("run", {}, ReportWith("a\u202eb", 10, 0));
  EXPECT_THAT(RenderPlot(Groups()), Not(HasSubstr("\u202e")));
}

TEST(HelveticaTest, WidthsAreThoseOfItsLetters) {
  EXPECT_DOUBLE_EQ(HelveticaWidth("Wi", 10), 9.44 + 2.22);
  EXPECT_DOUBLE_EQ(HelveticaWidth("ü", 10), 5.56);
  EXPECT_DOUBLE_EQ(HelveticaWidth("学\xff", 10), 20);
}

TEST(EscapeXmlTest, MarkupIsText) {
  EXPECT_EQ(EscapeXml("<a b=\"&\">"), "&lt;a b=&quot;&amp;&quot;&gt;");
}

TEST(EscapeXmlTest, WhatXmlCannotHoldIsReplaced) {
  EXPECT_EQ(EscapeXml(std::string("a\0b\x1b", 4)), "a\ufffdb\ufffd");
  EXPECT_EQ(EscapeXml("\xff|\xc3|\xed\xa0\x80|\xc0\xaf|"),
            "\ufffd|\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd|");
  EXPECT_EQ(EscapeXml("\xef\xbf\xbe"), "\ufffd\ufffd\ufffd");
}

TEST(EscapeXmlTest, OtherScriptsAreKept) { EXPECT_EQ(EscapeXml("Größe 学习 😀"), "Größe 学习 😀"); }

}  // namespace
}  // namespace gpubound
