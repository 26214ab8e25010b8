// SPDX-License-Identifier: Apache-2.0
//
// What a correction removes, how often, and from which rows, on traces written down as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

constexpr char kCall[] = "span 0 110000\nthread main\ncall main 10000 20000 cudaLaunchKernel #1\n";

Cost CostOf(double inside_ns, double outside_ns) {
  Cost cost;
  cost.inside_ns = inside_ns;
  cost.outside_ns = outside_ns;
  cost.samples = 80;
  return cost;
}

golden::Scenario Parsed(const std::string& text) {
  golden::Scenario scenario = golden::ParseScenario(text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  return scenario;
}

// Where a call costs 6 us.
double RemovedNs(const std::string& text) {
  const golden::Scenario scenario = Parsed(text);
  ReplayOptions options;
  options.costs.Of(CostKind::kApiCall) = CostOf(6000, 0);
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  return replayed.ok() ? (*replayed).facts.at(0).removed_ns : 0;
}

TEST(RemovedCostsTest, ARecordInACallIsPartOfWhatTheCallUsuallyCosts) {
  EXPECT_EQ(RemovedNs(kCall), 6000);
  const std::string flush = "overhead main 12000 ";
  EXPECT_EQ(RemovedNs(kCall + flush + "15000 CUPTI_BUFFER_FLUSH\n"), 6000);
  EXPECT_EQ(RemovedNs(kCall + flush + "18000 CUPTI_BUFFER_FLUSH\n"), 6000);
}

TEST(RemovedCostsTest, OrAllOfItWhereItTellsOfMore) {
  EXPECT_EQ(RemovedNs(kCall + std::string("overhead main 11000 19000 CUPTI_BUFFER_FLUSH\n")), 8000);
  EXPECT_EQ(RemovedNs(kCall + std::string("overhead main 11000 15000 CUPTI_BUFFER_FLUSH\n"
                                          "overhead main 16000 20000 CUPTI_RESOURCE\n")),
            8000);
}

TEST(RemovedCostsTest, RecordsThatNestOrComeTwiceCountOnce) {
  const std::string begin =
      "span 0 110000\nthread main\noverhead main 20000 40000 CUPTI_BUFFER_FLUSH\n";
  EXPECT_EQ(RemovedNs(begin), 20000);
  EXPECT_EQ(RemovedNs(begin + "overhead main 22000 37000 ACTIVITY_BUFFER_REQUEST\n"), 20000);
  EXPECT_EQ(RemovedNs(begin + "overhead main 30000 45000 ACTIVITY_BUFFER_REQUEST\n"), 25000);
  EXPECT_EQ(RemovedNs(begin + "overhead main 20000 40000 CUPTI_BUFFER_FLUSH\n"), 20000);
  EXPECT_EQ(RemovedNs(begin + "thread other\noverhead other 20000 40000 CUPTI_BUFFER_FLUSH\n"),
            40000);
}

// Two calls that cost 6 us each lie before the record that reaches it, and one after.
TEST(RemovedCostsTest, ATargetIsReachedEarlierByWhatWasRemovedBeforeIt) {
  const golden::Scenario scenario = Parsed(
      "span 0 110000\nthread main\n@0 main begin operation update\n"
      "call main 10000 20000 cudaLaunchKernel #1\ncall main 30000 40000 cudaLaunchKernel #2\n"
      "@50000 main counter return 450\ncall main 60000 70000 cudaLaunchKernel #3\n"
      "@110000 main end operation update\ntarget return>=450 over 1\n");
  ReportOptions options = scenario.options;
  options.costs.emplace().Of(CostKind::kApiCall) = CostOf(6000, 0);
  Result<Report> report = BuildReport(scenario.run, options);
  ASSERT_TRUE(report.ok());
  ASSERT_TRUE(AddReplays(scenario.run, options, &*report).ok());
  const ReportTarget& target = report->run.training->targets.front();
  EXPECT_EQ(target.reached_ns, 50'000);
  ASSERT_TRUE(target.corrected);
  EXPECT_EQ(target.corrected->ns, 38'000);
  EXPECT_LE(target.corrected->low_ns, 38'000);
  EXPECT_GE(target.corrected->high_ns, 38'000);
  EXPECT_LT(target.corrected->high_ns, 50'000);
}

// Time stamps that lie 250 ns and 2.5 us apart.
TEST(RemovedCostsTest, EventsBehindOtherWorkCostWhatTheyDoThere) {
  ReplayOptions options;
  options.costs.kinds.fill(CostOf(10, 20));
  options.costs.kinds_after_other_work.fill(CostOf(10, 60));
  for (const auto& [apart_ns, cost_ns] : {std::pair{250, 30.0}, {2500, 30.0 + 2 * 40.0}}) {
    std::string text = "span 0 1000000\nthread main\n";
    for (int i = 0; i < 100; ++i) {
      const int at_ns = 100 + 2 * i * apart_ns;
      text += "@" + std::to_string(at_ns) + " main begin operation act\n@" +
              std::to_string(at_ns + apart_ns) + " main end operation act\n";
    }
    const golden::Scenario scenario = Parsed(text);
    const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
    ASSERT_TRUE(replayed.ok());
    EXPECT_NEAR((*replayed).facts.at(0).removed_ns, 100 * cost_ns, 40) << apart_ns;
  }
}

// By so much the end of 100 scopes may be wrong, and the row that they make, of which each costs
// |cost|; |waits|: what the CPU waited for the GPU.
struct HalfWidths {
  double span = 0;
  double row = 0;
  double wait = 0;
};

HalfWidths HalfWidthsWith(const Cost& cost) {
  std::string text = "span 0 1000000\nthread main\n";
  for (int64_t ns = 0; ns < 1'000'000; ns += 10'000) {
    text += "@" + std::to_string(ns) + " main begin operation act\n@" + std::to_string(ns + 5000) +
            " main end operation act\n";
  }
  const golden::Scenario scenario = Parsed(text);
  ReportOptions options;
  options.costs.emplace().kinds.fill(cost);
  Result<Report> report = BuildReport(scenario.run, options);
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(AddReplays(scenario.run, options, &*report).ok());
  const CorrectedProcess& corrected = *report->processes.front().corrected;
  const auto half = [](const Bounds& bounds) {
    return static_cast<double>(bounds.high - bounds.low) / 2;
  };
  HalfWidths widths{half(corrected.span), 0, static_cast<double>(corrected.gpu_wait.high)};
  for (size_t i = 0; i < corrected.rows.size(); ++i) {
    if (corrected.process.operations[i].operation != "act") continue;
    widths.row = half(corrected.rows[i].wall);
  }
  return widths;
}

TEST(RemovedCostsTest, OfWhichNothingIsLeftByNoiseAreAsUncertainAsOthers) {
  constexpr double kErrorNs = 20;
  for (const auto& [inside_ns, outside_ns] :
       {std::pair{0.01, 0.01}, {0.0, 0.0}, {0.0, -3.0}, {0.0, 3.0}, {2.0, -2.0}}) {
    Cost cost = CostOf(inside_ns, outside_ns);
    cost.standard_error_ns = kErrorNs;
    const HalfWidths widths = HalfWidthsWith(cost);
    EXPECT_NEAR(widths.span, 196 * kErrorNs, 0.06 * 196 * kErrorNs) << outside_ns;
    EXPECT_NEAR(widths.wait, 196 * kErrorNs, 0.06 * 196 * kErrorNs) << outside_ns;
    EXPECT_GT(widths.row, 0) << outside_ns;
  }
}

ReportProcess Corrected(const golden::Scenario& scenario, const CostModel& costs) {
  ReportOptions options;
  options.costs = costs;
  Result<Report> report = BuildReport(scenario.run, options);
  EXPECT_TRUE(report.ok() && AddReplays(scenario.run, options, &*report).ok());
  return report->processes.front().corrected->process;
}

const ReportOperation& RowOf(const ReportProcess& process, const std::string& operation) {
  return *std::find_if(process.operations.begin(), process.operations.end(),
                       [&](const ReportOperation& row) { return row.operation == operation; });
}

// Nothing is left of the first call and of what lies between the two, so that both begin at once.
TEST(RemovedCostsTest, LayersAreEnteredAsOftenAsWasRecorded) {
  const golden::Scenario scenario = Parsed(
      "span 0 110000\nthread main\n@5000 main begin operation act\n"
      "call main 10000 10500 cudaSetDevice #1\ncall main 10600 20000 cudaLaunchKernel #2\n"
      "@30000 main end operation act\n");
  CostModel costs;
  costs.Of(CostKind::kApiCall) = CostOf(600, 200);
  const std::vector<std::pair<std::string, uint64_t>> twice = {{"python->cuda_api", 2}};
  EXPECT_EQ(RowOf(Corrected(scenario, costs), "act").transitions, twice);
}

// Nothing is left of a launch and of what lies between it and the end of its operation, at which
// another one begins.
TEST(RemovedCostsTest, ALaunchStaysInItsOperation) {
  const std::string begin =
      "span 0 110000\nthread main\n@5000 main begin operation act\n"
      "call main 10000 10500 cudaLaunchKernel #1\nkernel 11000 15000 gemm #1\n";
  for (const int64_t gap_ns : {0, 10, 100, 300}) {
    SCOPED_TRACE(gap_ns);
    const std::string end = std::to_string(10500 + gap_ns);
    const std::string next = std::to_string(10500 + 2 * gap_ns);
    const golden::Scenario scenario =
        Parsed(begin + "@" + end + " main end operation act\n@" + next +
               " main begin operation next\n@50000 main end operation next\n");
    CostModel costs;
    costs.kinds.fill(CostOf(20, 20));
    costs.Of(CostKind::kApiCall) = CostOf(900, 200);
    const ReportProcess corrected = Corrected(scenario, costs);
    EXPECT_EQ(RowOf(corrected, "act").gpu_caused_ns, 4000);
    EXPECT_EQ(RowOf(corrected, "next").gpu_caused_ns, 0);
  }
}

// What the profiler does on a thread of the program tells by itself how long it took.
TEST(RemovedCostsTest, ScopesAroundOwnWorkAreRemovedWhole) {
  const std::string own =
      "span 0 110000\nthread main\n@20000 main begin annotation gpubound:hooks\n"
      "@50000 main end annotation gpubound:hooks\n";
  EXPECT_EQ(RemovedNs(own), 30000);
  EXPECT_EQ(RemovedNs(own + "@60000 main begin annotation torch:hooks\n"
                            "@90000 main end annotation torch:hooks\n"),
            30000);
}

// The main thread imports libraries for long, then starts a thread, which is the one that reports.
// Until then it waits for nobody, however long it records nothing.
TEST(RemovedCostsTest, WhatTheMainThreadPaidBeforeTheReportingOneBeganMakesTheSpanShorter) {
  const golden::Scenario scenario = Parsed(
      "span 0 900000\nthread main\nthread worker\n"
      "@20000 main begin annotation gpubound:hooks\n@50000 main end annotation gpubound:hooks\n"
      "@200000 main begin layer wait start\n@300000 main end layer wait start\n"
      "@400000 main hand-over 7 work\n@410000 worker adopt 7 work\n"
      "@420000 worker begin operation act\n@800000 worker end operation act\n");
  ReplayOptions options;
  options.costs.Of(CostKind::kApiCall) = CostOf(6000, 0);
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  ASSERT_TRUE(replayed.ok());
  const ReplayFacts& facts = (*replayed).facts.at(0);
  EXPECT_EQ(facts.span_end_ns - facts.span_begin_ns, 870000);
}

TEST(RemovedCostsTest, ARuntimeCallAndTheDriversWithinItAreOneCall) {
  const std::string driver = "call main 11000 19000 cuLaunchKernel ";
  EXPECT_EQ(RemovedNs(kCall + driver + "#1\n"), 6000);
  EXPECT_EQ(RemovedNs(kCall + driver + "#2\n"), 12000);
}

// A scope of 300 ns and 10 ns behind it, less than a scope is said to cost there.
class DenseScopesTest : public testing::Test {
 protected:
  void Scopes(int count) {
    for (int i = 0; i < count; ++i) {
      Event("begin operation simulation");
      at_ns_ += 300;
      Event("end operation simulation");
      at_ns_ += 10;
    }
  }
  void Event(const std::string& what) {
    text_ += "@" + std::to_string(at_ns_) + " main " + what + "\n";
  }

  // Recorded and corrected time of the rows of |phase| and |operation|.
  struct Times {
    int64_t recorded_ns = 0;
    int64_t corrected_ns = 0;
  };
  Times TimesOf(const std::string& phase, const std::string& operation, double deviation_ns) {
    const golden::Scenario scenario =
        Parsed("span 0 " + std::to_string(at_ns_) + "\nthread main\n" + text_);
    CostModel costs;
    costs.kinds.fill(CostOf(12, 22));
    for (Cost& cost : costs.kinds) cost.variance_ns2 = deviation_ns * deviation_ns;
    ReportOptions options;
    options.costs = costs;
    Result<Report> report = BuildReport(scenario.run, options);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(AddReplays(scenario.run, options, &*report).ok());
    const ReportProcess& process = report->processes.front();
    return {Sum(process, phase, operation), Sum(process.corrected->process, phase, operation)};
  }

  int64_t at_ns_ = 0;

 private:
  static int64_t Sum(const ReportProcess& process, const std::string& phase,
                     const std::string& operation) {
    int64_t sum_ns = 0;
    for (const ReportCell& cell : process.cells) {
      if (cell.phase == phase && cell.operation == operation) sum_ns += cell.ns;
    }
    return sum_ns;
  }

  std::string text_;
};

TEST_F(DenseScopesTest, WhatTheyCostIsNotTakenFromAnotherPhase) {
  Event("phase rollout");
  Scopes(10'000);
  Event("phase update");
  at_ns_ += 500'000;
  for (const double deviation_ns : {0.0, 20.0}) {
    const Times update = TimesOf("update", "(no operation)", deviation_ns);
    EXPECT_EQ(update.recorded_ns, 500'000);
    EXPECT_NEAR(static_cast<double>(update.corrected_ns), 500'000, 2'000) << deviation_ns;
    // There is as much as the costs, and it is all taken.
    const Times rollout = TimesOf("rollout", "simulation", deviation_ns);
    EXPECT_NEAR(static_cast<double>(rollout.corrected_ns), 3'000'000 - 240'000, 2'000);
  }
}

}  // namespace
}  // namespace gpubound
