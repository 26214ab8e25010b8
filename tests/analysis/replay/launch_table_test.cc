// SPDX-License-Identifier: Apache-2.0
//
// Which launches are remembered, and that a replay does not depend on how CUPTI numbers calls.
#include "analysis/replay/launch_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/correction/run_report.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing_support::Kernel;
using testing_support::Launch;
using testing_support::SegmentWriter;
using testing_support::TemporaryRun;

constexpr auto kAlways = [](const LaunchEntry&) { return true; };
constexpr auto kNever = [](const LaunchEntry&) { return false; };

ApiCall CallOf(uint32_t correlation, int64_t start_ns = 10, int64_t end_ns = 20) {
  ApiCall call{};
  call.correlation = correlation;
  call.start_ns = start_ns;
  call.end_ns = end_ns;
  return call;
}

TEST(LaunchTable, ReplacesWhatIsNotNeededAndStaysAsItIs) {
  LaunchTable table;
  for (uint32_t id = 1; id <= 10 * LaunchTable::kFirstSize; ++id) {
    ASSERT_NE(table.Add(1, CallOf(id), kNever), nullptr);
  }
  EXPECT_EQ(table.size(), LaunchTable::kFirstSize);
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_NE(table.Find(10 * LaunchTable::kFirstSize), nullptr);
}

TEST(LaunchTable, GrowsWhereTwoThatAreNeededHaveOnePlace) {
  LaunchTable table;
  constexpr uint32_t kFarther = 8 * LaunchTable::kFirstSize;
  ASSERT_NE(table.Add(1, CallOf(1), kAlways), nullptr);
  ASSERT_NE(table.Add(1, CallOf(1 + kFarther), kAlways), nullptr);
  EXPECT_NE(table.Find(1), nullptr);
  EXPECT_NE(table.Find(1 + kFarther), nullptr);
  EXPECT_EQ(table.size(), 2 * kFarther);
}

TEST(LaunchTable, HasALargestSize) {
  LaunchTable table;
  ASSERT_NE(table.Add(1, CallOf(1), kAlways), nullptr);
  ASSERT_NE(table.Add(1, CallOf(1 + LaunchTable::kLargestSize), kAlways), nullptr);
  EXPECT_EQ(table.size(), LaunchTable::kLargestSize);
  EXPECT_EQ(table.Find(1), nullptr);
}

TEST(LaunchTable, OfNestedCallsTheOutermostCounts) {
  LaunchTable table;
  ASSERT_NE(table.Add(1, CallOf(7, 10, 20), kAlways), nullptr);
  EXPECT_EQ(table.Add(1, CallOf(7, 12, 18), kAlways), nullptr);
  EXPECT_NE(table.Add(2, CallOf(7, 12, 18), kAlways), nullptr);  // of another thread: a new call
}

// Launches that queue up, numbered in steps of |stride|, and a wait for their kernels, which have
// gaps between them: who does not know that they were launched long before takes the gaps for the
// program's.
std::vector<std::pair<std::string, int64_t>> PathWithNumbersIn(uint32_t stride) {
  constexpr uint32_t kLaunches = 600;
  constexpr uint64_t kLaunchNs = 1'000, kKernelNs = 5'000, kGapNs = 20'000;
  const TemporaryRun run;
  SegmentWriter writer(run, {});
  writer.PutUsualRows();
  std::vector<ApiRecord> calls;
  std::vector<DeviceRecord> work;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    const uint64_t at = 1'000 + i * kLaunchNs, begun = 3'000 + i * (kKernelNs + kGapNs);
    calls.push_back(Launch(at, at + kLaunchNs / 2, 1 + i * stride));
    work.push_back(Kernel(begun, begun + kKernelNs, 1 + i * stride));
  }
  const uint64_t launched = calls.back().end_ns, done = work.back().end_ns;
  writer.Sql("INSERT INTO label VALUES(4, 6, 0, '', 'cudaDeviceSynchronize')");
  calls.push_back({launched, done + 1'000, 1 + kLaunches * stride, 100, LabelId{4}, 0});
  const auto span_ns = static_cast<int64_t>(done + 5'000);
  writer.Meta("end_monotonic_ns", span_ns);
  writer.Scopes({1, 0, 0, INT64_MIN},
                {testing_support::Begin(testing_support::kTrain, 500),
                 testing_support::End(testing_support::kTrain, span_ns - 500)});
  writer.Calls({9, 0, 0, INT64_MIN}, calls);
  writer.Work({9, 0, 0, INT64_MIN}, work);
  writer.Close();
  ReportOptions options;
  options.replays = true;
  const auto report = ReportOfRun(run.path(), options);
  std::vector<std::pair<std::string, int64_t>> parts;
  EXPECT_TRUE(report.ok());
  if (!report.ok() || !report->run.critical_path) return parts;
  for (const auto& part : report->run.critical_path->parts) {
    parts.emplace_back(part.operation + "/" + part.layer, part.ns);
  }
  return parts;
}

TEST(LaunchTable, AReplayDoesNotDependOnTheNumbersOfCalls) {
  const auto path = PathWithNumbersIn(1);
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path, PathWithNumbersIn(LaunchTable::kFirstSize / 4));
}

}  // namespace
}  // namespace gpubound
