// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

class HeadlineTest : public testing::Test {
 protected:
  HeadlineTest() {
    report_.run.root = 100;
    report_.run.root_host = "host";
    report_.run.wall_ns = report_.run.headline_ns = 1000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = 0.65;
    report_.run.smi_model = 0.97;
    ReportDevice& device = report_.devices.emplace_back();
    device.used = true;
    device.processes.push_back({"host", 100, "python3", 410, 0});
    ReportProcess& process = report_.processes.emplace_back();
    process.host = "host";
    process.pid = 100;
    process.span_ns = 1000;
    process.gpu_busy_ns = 410;
    process.device_shares.push_back({"GPU-1", 0, "act", 1000, 410, 590, 0, {}});
  }
  std::string Text() const { return HeadlineText(report_); }

  Report report_;
};

TEST_F(HeadlineTest, SaysWhatIsTrueAndWhatIsClaimed) {
  EXPECT_EQ(Text(), "GPU busy 65 %, idle 35 %; nvidia-smi would show up to 97 %.");
  report_.run.nvml_utilization = 0.98;
  EXPECT_EQ(Text(), "GPU busy 65 %, idle 35 %; nvidia-smi showed 98 %.");
}

TEST_F(HeadlineTest, WhereOthersUseTheDeviceTooItIsBusyForAtLeastThat) {
  report_.run.gpu_busy_is_lower_bound = true;
  EXPECT_TRUE(Text().starts_with("GPU busy at least 65 %, idle at most 35 %;")) << Text();
  report_.run.gpu_busy_is_upper_bound = true;
  EXPECT_TRUE(Text().starts_with("GPU busy about 65 %, idle about 35 %;")) << Text();
}

TEST_F(HeadlineTest, OwnWorkIsApartFromThatOfPeersOnTheDevice) {
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  EXPECT_TRUE(Text().starts_with("GPU busy 41 % (peers 24 %), idle 35 %;")) << Text();
}

TEST_F(HeadlineTest, UnknownTimeMakesABoundAndIsNotIdle) {
  report_.run.unknown.share = 0.1;
  EXPECT_TRUE(Text().starts_with("GPU busy at least 65 %, unknown 10 %, idle 25 %;")) << Text();
}

TEST_F(HeadlineTest, UnknownTimesOfSeveralProcessesMayBeTheSame) {
  report_.run.unknown = {0.2, true};
  EXPECT_THAT(Text(), testing::HasSubstr(", unknown <= 20 %, idle >= 15 %"));
}

TEST_F(HeadlineTest, WholeGraphsMakeAnUpperBoundAndWithUnknownTimeNone) {
  report_.run.gpu_busy_is_upper_bound = true;
  EXPECT_TRUE(Text().starts_with("GPU busy <= 65 %, idle >= 35 %;")) << Text();
  report_.run.unknown.share = 0.1;
  EXPECT_THAT(Text(), testing::HasSubstr("GPU busy about 65 %"));
}

TEST_F(HeadlineTest, ARunWithoutGpuWorkSaysSo) {
  EXPECT_EQ(HeadlineText(Report{}), "No GPU work was recorded.");
}

TEST_F(HeadlineTest, UnknownTimeIsNoLackOfGpuWork) {
  report_.run.devices_used = 0;
  report_.run.gpu_busy_share = 0;
  report_.run.unknown.share = 1;
  EXPECT_EQ(Text(), "GPU unknown 100 %: no work was recorded, but some could have run.");
  report_.run.unknown.share = 0.25;
  EXPECT_EQ(Text(), "GPU unknown 25 %, idle 75 %: no work was recorded, but some could have run.");
}

}  // namespace
}  // namespace gpubound
