// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/report_truth.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/trace/row_names.h"
#include "tests/sim/history_trace.h"

namespace gpubound::sim {
namespace {

using Cells = std::map<Truth::CellKey, TimeNs>;

constexpr int kFillBits = 30;

Cells CellsOf(const ReportProcess& report) {
  Cells cells;
  for (const ReportCell& cell : report.cells) {
    cells[{cell.phase, cell.operation, cell.layer, cell.gpu}] += cell.ns;
  }
  return cells;
}

void ExpectFill(const ReportOperation& row, const OperationTruth& truth, int64_t unit) {
  // Each kernel's part loses less than one of 2^30 parts of the device while it runs.
  const FilledSum lost = (static_cast<FilledSum>(unit) * truth.gpu_sum_ns) >> kFillBits;
  EXPECT_LE(row.sm_filled_ns, static_cast<int64_t>(truth.filled / unit)) << row.operation;
  EXPECT_GT((static_cast<FilledSum>(row.sm_filled_ns) + 1) * unit + lost + 1, truth.filled)
      << row.operation;
}

void ExpectRow(const ReportOperation& row, const OperationTruth& truth, int64_t fill_unit) {
  SCOPED_TRACE(row.operation);
  EXPECT_EQ(row.wall_ns, truth.wall_ns);
  EXPECT_EQ(row.cpu_only_ns, truth.cpu_only_ns);
  EXPECT_EQ(row.cpu_gpu_ns, truth.cpu_gpu_ns);
  EXPECT_EQ(row.gpu_only_ns, truth.gpu_only_ns);
  EXPECT_EQ(row.waiting_ns, 0);
  EXPECT_EQ(row.idle_ns, truth.idle_ns);
  EXPECT_EQ(row.unknown_ns, truth.unknown_ns);
  EXPECT_EQ(row.gpu_busy_ns, truth.gpu_busy_ns);
  EXPECT_EQ(row.gpu_compute_ns, truth.gpu_compute_ns);
  EXPECT_EQ(row.gpu_comm_ns, truth.gpu_comm_ns);
  EXPECT_EQ(row.gpu_copy_ns, truth.gpu_copy_ns);
  EXPECT_EQ(row.gpu_wait_ns, truth.gpu_wait_ns);
  EXPECT_EQ(row.gpu_caused_ns, truth.gpu_caused_ns);
  EXPECT_EQ(row.gpu_sum_ns, truth.gpu_sum_ns);
  EXPECT_EQ(row.count, truth.count);
  if (row.operation != kNoOperation) {
    EXPECT_EQ(row.inclusive_wall_ns, truth.inclusive_wall_ns);
  }
  const std::map<std::string, uint64_t> transitions(row.transitions.begin(), row.transitions.end());
  EXPECT_EQ(transitions, truth.transitions);
  ExpectFill(row, truth, fill_unit);
  // What was lost lies in the time that is said to be unknown, nowhere else.
  EXPECT_LE(row.gpu_busy_ns, truth.really_busy_ns);
  EXPECT_GE(row.gpu_busy_ns + row.unknown_ns, truth.really_busy_ns);
}

bool IsEmpty(const OperationTruth& row) {
  return row.wall_ns == 0 && row.count == 0 && row.gpu_caused_ns == 0 && row.transitions.empty();
}

void ExpectInflation(const std::optional<double>& inflation, const Truth& truth) {
  ASSERT_EQ(inflation.has_value(), truth.inflation().has_value());
  if (!inflation) return;
  EXPECT_DOUBLE_EQ(*inflation, *truth.inflation());
}

}  // namespace

ProcessAnalysis AnalyseHistory(const History& history) {
  auto analysis = AnalyzeProcess(TraceOf(history), {});
  EXPECT_TRUE(analysis.ok());
  return analysis.ok() ? std::move(analysis.value()) : ProcessAnalysis{};
}

void ExpectEqualsTruth(const ReportProcess& report, const Truth& truth) {
  EXPECT_EQ(report.span_ns, truth.span_ns);
  EXPECT_EQ(CellsOf(report), truth.cells);
  EXPECT_EQ(report.gpu_busy_ns, truth.whole.gpu_busy_ns);
  EXPECT_EQ(report.gpu_wait_ns, truth.whole.gpu_wait_ns);
  EXPECT_EQ(report.gpu_sum_ns, truth.whole.gpu_sum_ns);
  EXPECT_EQ(report.unknown_ns, truth.whole.unknown_ns);
  EXPECT_EQ(report.smi_model, truth.smi_model());
  EXPECT_EQ(report.most_smi_model, truth.most_smi_model());
  ExpectInflation(report.inflation, truth);
  EXPECT_EQ(report.sm_fill_is_upper_bound, truth.fill_is_upper_bound);
  std::map<std::string, OperationTruth> expected = truth.operations;
  for (const ReportOperation& row : report.operations) {
    ASSERT_TRUE(expected.count(row.operation)) << row.operation << " is not in the truth";
    ExpectRow(row, expected[row.operation], truth.fill_unit);
    expected.erase(row.operation);
  }
  for (const auto& [name, row] : expected) EXPECT_TRUE(IsEmpty(row)) << name << " is missing";
}

void ExpectRunEqualsTruth(const Report& report, const Truth& truth) {
  ASSERT_EQ(report.processes.size(), 1u);
  ExpectEqualsTruth(report.processes[0], truth);
  ASSERT_EQ(report.devices.size(), 1u);
  const ReportDevice& device = report.devices[0];
  EXPECT_EQ(device.span_ns, truth.span_ns);
  EXPECT_EQ(device.busy_ns, truth.whole.gpu_busy_ns);
  EXPECT_EQ(device.smi_model, truth.smi_model());
  ExpectInflation(device.inflation, truth);
  EXPECT_EQ(device.has_unknown_time, truth.whole.unknown_ns > 0);
  const auto share = [&truth](TimeNs ns) {
    return static_cast<double>(ns) / static_cast<double>(truth.span_ns);
  };
  EXPECT_EQ(report.run.wall_ns, truth.span_ns);
  EXPECT_EQ(report.run.whole_gpu_busy_share, share(truth.whole.gpu_busy_ns));
  if (report.run.headline != "span") return;  // iterations, whose parts the truth does not know
  EXPECT_EQ(report.run.gpu_busy_share, share(truth.whole.gpu_busy_ns));
  EXPECT_EQ(report.run.compute_share, share(truth.whole.gpu_compute_ns));
  EXPECT_EQ(report.run.comm_share, share(truth.whole.gpu_comm_ns));
  EXPECT_EQ(report.run.copy_share, share(truth.whole.gpu_copy_ns));
  EXPECT_EQ(report.run.smi_model, truth.smi_model());
  EXPECT_EQ(report.run.most_smi_model, truth.most_smi_model());
}

}  // namespace gpubound::sim
