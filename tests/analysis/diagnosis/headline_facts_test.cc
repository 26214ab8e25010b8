// SPDX-License-Identifier: Apache-2.0
#include "analysis/diagnosis/headline_facts.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

// A process that uses a device beside another one of the run.
class HeadlineFactsTest : public testing::Test {
 protected:
  HeadlineFactsTest() {
    report_.run.root = 100;
    report_.run.root_host = "host";
    report_.run.wall_ns = report_.run.headline_ns = 1000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = 0.65;
    ReportDevice& device = report_.devices.emplace_back();
    device.used = true;
    device.processes = {{"host", 100, "python3", 410, 0}, {"host", 101, "other", 240, 0}};
    ReportProcess& process = report_.processes.emplace_back();
    process.host = "host";
    process.pid = 100;
    process.span_ns = 1000;
    process.gpu_busy_ns = 410;
    process.device_shares.push_back({"GPU-1", 0, "act", 1000, 410, 590, 0, {}});
    process.operations.emplace_back().operation = "act";
  }
  ReportProcess& process() { return report_.processes[0]; }

  Report report_;
};

TEST_F(HeadlineFactsTest, OwnWorkIsApartFromThatOfPeersOnTheDevice) {
  EXPECT_DOUBLE_EQ(OwnShare(report_).value_or(0), 0.41);
  report_.devices[0].processes.pop_back();
  EXPECT_FALSE(OwnShare(report_));
}

TEST_F(HeadlineFactsTest, WhileOthersWorkOnItTheDeviceIsNotIdleForAnyCause) {
  // Of 590 ns without its own work others' took 240.
  process().operations[0].device_idle = {{"sync", 410}, {"launch", 180}};
  const IdleExplained explained = HeadlineIdle(report_);
  EXPECT_EQ(explained.idle_ns, 350);
  ASSERT_EQ(explained.causes.size(), 1u);
  EXPECT_EQ(explained.causes[0].ns, 170);
  EXPECT_EQ(explained.others_ns, 240);
}

TEST_F(HeadlineFactsTest, OwnWorkWithinIterationsIsKnownOnOneDeviceOnly) {
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500;
  process().iterations.emplace().gpu_busy_ns = 200;
  EXPECT_DOUBLE_EQ(OwnShare(report_).value_or(0), 0.4);
  report_.run.devices_used = 2;
  EXPECT_FALSE(OwnShare(report_));
}

TEST_F(HeadlineFactsTest, OwnWorkOfIterationsThatEndAfterTheRunIsNoShareOfIt) {
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500;
  ReportIterations& iterations = process().iterations.emplace();
  iterations.gpu_busy_ns = 2000;
  iterations.total_ns = 5000;
  EXPECT_FALSE(OwnShare(report_));
}

TEST_F(HeadlineFactsTest, WhatIterationsWereIdleForIsTheirOwn) {
  report_.devices[0].processes.pop_back();
  report_.run.headline = "iterations";
  ReportIterations& iterations = process().iterations.emplace();
  iterations.series.idle_ns = {{"launch", {10, 20}}, {"sync", {40, 0}}};
  const std::vector<CauseTime> causes = HeadlineIdle(report_).causes;
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].cause, "sync");
  EXPECT_EQ(causes[1].ns, 30);
}

TEST_F(HeadlineFactsTest, IterationsThatAreNearlyAllOfTheRunAreNoPartOfIt) {
  report_.run.headline = "iterations";
  report_.run.headline_ns = 950;
  EXPECT_FALSE(HeadlineIsPart(report_));
  report_.run.headline_ns = 949;
  EXPECT_TRUE(HeadlineIsPart(report_));
}

}  // namespace
}  // namespace gpubound
