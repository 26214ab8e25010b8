// SPDX-License-Identifier: Apache-2.0
//
// Text in, report out: every file in tests/golden/scenarios is one test, and teaches one rule of
// the breakdown.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/golden/scenario.h"

namespace gpubound::golden {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ScenarioNames() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(GPUBOUND_SCENARIOS)) {
    if (entry.path().extension() == ".scenario") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Scenario Load(const std::string& name) {
  std::ifstream file(fs::path(GPUBOUND_SCENARIOS) / (name + ".scenario"));
  return ParseScenario({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

// The values of |actual| that |expected| asks for; zero where there is none.
Values Asked(const Values& actual, const Values& expected) {
  Values asked;
  for (const auto& [key, value] : expected) {
    const auto found = actual.find(key);
    asked[key] = found == actual.end() ? 0 : found->second;
  }
  return asked;
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, ReportsWhatTheScenarioExpects) {
  const Scenario scenario = Load(GetParam());
  ASSERT_TRUE(scenario.mistakes.empty()) << "not understood: " << scenario.mistakes.front();
  ASSERT_FALSE(scenario.cells.empty() && scenario.rows.empty()) << "expects nothing";

  const Result<Report> report = BuildReport(scenario.run, scenario.options);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  const ReportProcess& process = report->processes.front();

  if (!scenario.cells.empty()) {
    EXPECT_EQ(CellLines(process), scenario.cells);
  }
  for (const auto& [operation, expected] : scenario.rows) {
    const auto row = std::find_if(
        process.operations.begin(), process.operations.end(),
        [&](const ReportOperation& candidate) { return candidate.operation == operation; });
    ASSERT_NE(row, process.operations.end()) << operation;
    EXPECT_EQ(Asked(RowValues(*row), expected), expected) << operation;
  }
  EXPECT_EQ(Asked(ProcessValues(process), scenario.process), scenario.process);
  EXPECT_EQ(Asked(LedgerValues(*report), scenario.ledger), scenario.ledger);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GoldenTest, testing::ValuesIn(ScenarioNames()),
                         [](const auto& scenario) { return scenario.param; });

TEST(GoldenScenarios, TeachEveryRuleOnce) { EXPECT_GE(ScenarioNames().size(), 20u); }

}  // namespace
}  // namespace gpubound::golden
