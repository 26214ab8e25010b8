// SPDX-License-Identifier: Apache-2.0
//
// The breakdown alone (ReportDetail) is, to the byte, what the whole report says of it.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/report/report.h"
#include "analysis/report/report_json.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/random_waits.h"
#include "tests/oracle/seeds.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 1000;

Report ReportOf(const gpubound::Run& run, ReportDetail detail) {
  ReportOptions options;
  options.detail = detail;
  Result<Report> report = BuildReport(run, options);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
  return report.ok() ? std::move(*report) : Report{};
}

// What a breakdown has none of.
struct Beside {
  size_t lanes = 0;
  size_t kernels = 0;
  size_t gaps = 0;
  size_t awaited = 0;
};

void Take(Report* report, Beside* beside) {
  report->ranks.clear();
  for (ReportProcess& process : report->processes) {
    beside->lanes += std::exchange(process.lanes, {}).size();
    beside->kernels += std::exchange(process.kernels, {}).size();
    beside->gaps += std::exchange(process.gaps, {}).size();
    beside->awaited += std::exchange(process.awaited, {}).size();
    process.operation_kernels.clear();
    process.categories.clear();
    process.ops.clear();
  }
}

void CheckBreakdown(const gpubound::Run& run, Beside* beside) {
  Report whole = ReportOf(run, ReportDetail::kAll);
  Take(&whole, beside);
  whole.diagnosis = Diagnose(whole);  // actions name kernels
  Report breakdown = ReportOf(run, ReportDetail::kBreakdown);
  EXPECT_EQ(RenderJson(breakdown), RenderJson(whole));
  Beside of_breakdown;
  Take(&breakdown, &of_breakdown);
  EXPECT_EQ(of_breakdown.lanes + of_breakdown.kernels + of_breakdown.gaps + of_breakdown.awaited,
            0u);
}

TEST(DetailTest, TheBreakdownAloneIsThatOfTheWholeReport) {
  Beside beside;
  for (const uint64_t seed : Seeds(kRuns)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    CheckBreakdown(MakeRandomRun(seed), &beside);
    gpubound::Run waits = MakeRandomWaits(seed);
    NameAwaitedProcesses(&waits);
    CheckBreakdown(waits, &beside);
    gpubound::Run crowd;
    crowd.processes.push_back(MakeRandomCrowd(seed));
    CheckBreakdown(crowd, &beside);
  }
  if (Seeds(kRuns).is_one()) return;
  // Else nothing was told apart.
  EXPECT_GT(beside.lanes, 0u);
  EXPECT_GT(beside.kernels, 0u);
  EXPECT_GT(beside.gaps, 0u);
  EXPECT_GT(beside.awaited, 0u);
}

}  // namespace
}  // namespace gpubound::oracle
