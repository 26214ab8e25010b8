// SPDX-License-Identifier: Apache-2.0
//
// What a faster operation makes of time in which it only waits, and which operation the first line
// asks about then, on traces written down as text.
#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/report/report.h"
#include "tests/golden/replayed_span.h"
#include "tests/golden/scenario.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

constexpr int64_t kSpanUs = 10'000;

class ScaledWaitsTest : public testing::Test {
 protected:
  // "collect" spends 6 ms in |waits| and 1 ms beside them, "train" works for 2 ms.
  static std::string Program(const std::string& waits) {
    return golden::ProcessLines("", 0, kSpanUs) + golden::EventLine(0, "begin operation collect") +
           golden::ScopeLines(500, 6500, waits) + golden::EventLine(7000, "end operation collect") +
           golden::ScopeLines(7000, 9000, "operation train");
  }
  static golden::Scenario Parsed(const std::string& text) {
    golden::Scenario scenario = golden::ParseScenario(text);
    EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
    return scenario;
  }
  static Report ReportOf(const std::string& text) {
    const golden::Scenario scenario = Parsed(text);
    Result<Report> report = BuildReport(scenario.run);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(AddReplays(scenario.run, {}, &*report).ok());
    return std::move(*report);
  }
};

constexpr const char* kWaits[] = {"layer wait:time.sleep", "wait 777",
                                  "layer cuda_sync:block_until_ready"};

TEST_F(ScaledWaitsTest, KeepTheirLengthWhateverBecomesOfTheirOperation) {
  for (const std::string waits : kWaits) {
    EXPECT_DOUBLE_EQ(golden::MillisecondsWith(Program(waits), "operation-cpu=collect:0"), 9.0)
        << waits;
    EXPECT_DOUBLE_EQ(golden::MillisecondsWith(Program(waits), "operation-cpu=collect:3"), 12.0)
        << waits;
  }
}

TEST_F(ScaledWaitsTest, WorkWithinAWaitIsTheOperations) {
  const std::string text = golden::ProcessLines("", 0, kSpanUs) +
                           golden::EventLine(0, "begin operation collect") +
                           golden::EventLine(500, "begin layer wait:select") +
                           golden::ScopeLines(2000, 5000, "layer python:callback") +
                           golden::EventLine(6500, "end layer wait:select") +
                           golden::EventLine(7000, "end operation collect");
  EXPECT_DOUBLE_EQ(golden::MillisecondsWith(text, "operation-cpu=collect:0"), 6.0);
}

TEST_F(ScaledWaitsTest, SavingsAreOfTheOperationThatWorks) {
  for (const std::string waits : kWaits) {
    const Report report = ReportOf(Program(waits));
    const auto train = std::find_if(
        report.run.savings.begin(), report.run.savings.end(), [](const ReportSaving& saving) {
          return saving.part == "operation_cpu" && saving.name == "train";
        });
    ASSERT_NE(train, report.run.savings.end()) << waits;
    EXPECT_NEAR(train->saves, 0.1, 1e-9) << waits;
  }
}

TEST_F(ScaledWaitsTest, WhereAllWaitThereIsNothingToSave) {
  const Report report = ReportOf(golden::ProcessLines("", 0, kSpanUs) +
                                 golden::EventLine(0, "begin operation collect") +
                                 golden::ScopeLines(0, kSpanUs, "layer wait:time.sleep") +
                                 golden::EventLine(kSpanUs, "end operation collect"));
  EXPECT_TRUE(report.run.savings.empty());
}

}  // namespace
}  // namespace gpubound
