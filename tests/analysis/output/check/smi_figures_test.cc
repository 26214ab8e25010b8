// SPDX-License-Identifier: Apache-2.0
//
// What a check may take the model of nvidia-smi for where GPU time is unknown.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "analysis/output/check/figure_catalogue.h"
#include "analysis/report/report.h"

namespace gpubound {
namespace {

constexpr int64_t kSpanNs = 10'000'000'000;

// A tenth of the windows has a kernel, and seven more have some of the unknown time, which is a
// hundredth.
Report MakeReport() {
  Report report;
  report.run.devices_used = 1;
  report.run.gpu_busy_share = 0.05;
  report.run.smi_model = 0.1;
  report.run.most_smi_model = 0.8;
  report.run.unknown.share = 0.01;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = kSpanNs;
  process.gpu_busy_ns = kSpanNs / 20;
  process.unknown_ns = kSpanNs / 100;
  process.smi_model = 0.1;
  process.most_smi_model = 0.8;
  return report;
}

template <typename Figures, typename Subject>
Figure Of(const Figures& figures, std::string_view name, const Subject& subject) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [name](const auto& figure) { return figure.name == name; });
  return found->get(subject);
}

TEST(SmiFiguresTest, EveryWindowThatUnknownTimeTouchesMayHaveHadAKernel) {
  const Report report = MakeReport();
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "smi_model", report).low, 0.1);
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "smi_model", report).high, 0.8);
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "inflation", report).high, 0.8 / 0.05);
  const ReportProcess& process = report.processes.front();
  EXPECT_DOUBLE_EQ(Of(ProcessFigures(), "smi_model", process).low, 0.1);
  EXPECT_DOUBLE_EQ(Of(ProcessFigures(), "smi_model", process).high, 0.8);
  EXPECT_DOUBLE_EQ(Of(ProcessFigures(), "inflation", process).high, 0.8 / 0.05);
}

TEST(SmiFiguresTest, OthersOnTheDeviceMayHaveFilledAll) {
  Report report = MakeReport();
  report.run.gpu_busy_is_lower_bound = true;
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "smi_model", report).high, 1);
}

TEST(SmiFiguresTest, WhereNoDeviceIsKnownUnknownTimeMayHaveFilledAll) {
  Report report;
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "smi_model", report).high, 0);
  report.run.unknown.share = 0.01;
  EXPECT_DOUBLE_EQ(Of(RunFigures(), "smi_model", report).high, 1);
}

}  // namespace
}  // namespace gpubound
