// SPDX-License-Identifier: Apache-2.0
//
// Text in, report out: every file in tests/golden/scenarios is one test, and teaches one rule of
// the breakdown. Beside each lies what `gpubound report --raw` prints of it, word for word; with
// GPUBOUND_WRITE_GOLDEN set these files are written instead of compared, to be read in the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/attribution/build_report.h"
#include "analysis/output/text/report_text.h"
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

fs::path FileOf(const std::string& name, const std::string& extension) {
  return fs::path(GPUBOUND_SCENARIOS) / (name + extension);
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Scenario Load(const std::string& name) {
  return ParseScenario(ReadFile(FileOf(name, ".scenario")));
}

// The values of |actual| that |expected| asks for; zero where there is none. A key that no report
// has is a mistake of the scenario (expectation_keys.h).
Values Asked(const Values& actual, const Values& expected) {
  Values asked;
  for (const auto& [key, value] : expected) {
    const auto found = actual.find(key);
    asked[key] = found == actual.end() ? 0 : found->second;
  }
  return asked;
}

void ExpectTable(const Table& actual, const Table& expected, const std::string& section) {
  for (const auto& [name, values] : expected) {
    const auto row = actual.find(name);
    ASSERT_NE(row, actual.end()) << section << ": " << name;
    EXPECT_EQ(Asked(row->second, values), values) << section << ": " << name;
  }
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, ReportsWhatTheScenarioExpects) {
  const Scenario scenario = Load(GetParam());
  ASSERT_TRUE(scenario.mistakes.empty()) << "not understood: " << scenario.mistakes.front();
  ASSERT_FALSE(scenario.expected.empty()) << "expects nothing";

  const Result<Report> report = BuildReport(scenario.run, scenario.options);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  for (auto [section, lines] : scenario.expected.lists) {
    if (!section.starts_with("gaps")) std::sort(lines.begin(), lines.end());
    EXPECT_EQ(ActualList(*report, section), lines) << section;
  }
  for (const auto& [section, table] : scenario.expected.tables) {
    ExpectTable(ActualTable(*report, section), table, section);
  }
  for (const auto& [section, values] : scenario.expected.values) {
    EXPECT_EQ(Asked(ActualValues(*report, section), values), values) << section;
  }
}

TEST_P(GoldenTest, PrintsWhatLiesBesideTheScenario) {
  const Scenario scenario = Load(GetParam());
  const Result<Report> report = BuildReport(scenario.run, scenario.options);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  TextOptions options;
  options.raw = true;
  options.full = true;
  const std::string text = RenderText(*report, options);
  const fs::path beside = FileOf(GetParam(), ".report");
  if (std::getenv("GPUBOUND_WRITE_GOLDEN") != nullptr) std::ofstream(beside) << text;
  EXPECT_EQ(text, ReadFile(beside));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GoldenTest, testing::ValuesIn(ScenarioNames()),
                         [](const auto& scenario) { return scenario.param; });

TEST(GoldenScenarios, TeachEveryRuleOnce) { EXPECT_GE(ScenarioNames().size(), 50u); }

}  // namespace
}  // namespace gpubound::golden
