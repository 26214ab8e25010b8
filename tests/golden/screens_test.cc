// SPDX-License-Identifier: Apache-2.0
//
// The ten-second test (docs/testing.md): what the screen of `gpubound report` says of runs that
// different things limit, word for word, so that every change of a word is read. With
// GPUBOUND_WRITE_GOLDEN set the files are written instead of compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/correction/run_report.h"
#include "analysis/import/import.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/text/report_screen.h"
#include "analysis/output/text/report_text.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/training_runs.h"

namespace gpubound::golden {
namespace {

constexpr int64_t kMostLines = 27;
constexpr int kMostColumns = 80;

class ScreenTest : public testing::TestWithParam<NamedRun> {};

TEST_P(ScreenTest, NamesVerdictKnobAndGainOnOneScreen) {
  const Report report = ReportOf(GetParam().loop);
  ASSERT_FALSE(report.diagnosis.empty());
  EXPECT_EQ(report.diagnosis.front().kind, GetParam().kind);
  const std::string screen = RenderText(report);
  ExpectGolden(std::string("screens/") + GetParam().name + ".screen", screen);
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), kMostLines);
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), kMostColumns);
}

TEST(MarkdownTest, OfAReportIsWhatLiesInItsFile) {
  for (const NamedRun& run : TrainingRuns()) {
    if (run.name != "launch_bound" && run.name != "inconclusive") continue;
    ExpectGolden("screens/" + run.name + ".markdown", RenderMarkdown(ReportOf(run.loop)));
  }
}

// One of something in the plural.
constexpr const char* kWrongPlural =
    "(^|[^0-9.,])1 (more )?(iterations|processes|threads|workers|kernels|launches|collectives|"
    "looks|notes|runs|ranks|others|gaps|calls|rows|events|devices|GPUs|copies|kinds)\\b";

TEST(PluralTest, NothingThatIsThereOnceIsInThePlural) {
  std::vector<TrainingLoop> loops(4);
  loops[0].iterations = 1;
  loops[1].iterations = 2;
  loops[2].iterations = 2;
  loops[2].workers = 1;
  loops[3].forward_kernels = loops[3].backward_kernels = 1;
  TextOptions full;
  full.full = true;
  full.kernels = true;
  for (const TrainingLoop& loop : loops) {
    const Report report = ReportOf(loop);
    std::vector<RunGroup> groups(2);
    groups[0] = {"A", {"a.gpubound"}, {report}};
    groups[1] = {"B", {"b.gpubound"}, {report}};
    const GroupComparison comparison = CompareGroups(groups, /*seed=*/1);
    for (const std::string& text :
         {RenderText(report), RenderText(report, full), RenderMarkdown(report),
          RenderComparison(comparison, groups, {}), RenderComparisonMarkdown(comparison, groups)}) {
      EXPECT_THAT(text, testing::Not(testing::ContainsRegex(kWrongPlural)));
    }
  }
}

// Four times the environments in an iteration, and kernels that are not much longer for it.
TEST(ComparisonScreenTest, OfMoreEnvironmentsIsWhatLiesInItsFile) {
  TrainingLoop before;
  TrainingLoop after;
  after.env_steps *= 4;
  after.simulation_ns *= 3;
  after.backward_ns += after.backward_ns / 2;
  std::vector<RunGroup> groups(2);
  groups[0] = {"A", {"envs_8.gpubound"}, {ReportOf(before)}};
  groups[1] = {"B", {"envs_32.gpubound"}, {ReportOf(after)}};
  const GroupComparison comparison = CompareGroups(groups, /*seed=*/1);
  const std::string screen = RenderComparison(comparison, groups, {});
  ExpectGolden("screens/compare.screen", screen);
  ExpectGolden("screens/compare.markdown", RenderComparisonMarkdown(comparison, groups));
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), kMostLines);
}

// What `gpubound import` and `gpubound report` make of |trace|, a profile from tests/data/kineto.
std::string ScreenOfTrace(const std::string& trace) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / (trace + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(ImportTrace(GPUBOUND_TEST_DATA "/kineto/" + trace + ".json.gz", folder).ok());
  ReportOptions options;
  options.replays = true;
  const Result<Report> report = ReportOfRun(folder, options);
  EXPECT_TRUE(report.ok());
  std::filesystem::remove_all(folder);
  return report.ok() ? RenderText(*report) : "";
}

TEST(ScreenOfHardwareTest, OfProfilesFromAnH100IsWhatLiesInItsFile) {
  for (const char* trace : {"h100_bert_small", "h100_qwen_chat"}) {
    ExpectGolden(std::string("screens/") + trace + ".screen", ScreenOfTrace(trace));
  }
}

// Indented by four columns, as Markdown has what is printed as it is.
TEST(ScreenOfHardwareTest, IsTheExampleInReadme) {
  std::istringstream lines(ScreenOfTrace("h100_bert_small"));
  std::string example;
  for (std::string line; std::getline(lines, line);) {
    example += (line.empty() ? "" : "    " + line) + "\n";
  }
  std::ifstream file(GPUBOUND_README);
  const std::string readme{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_THAT(readme, testing::HasSubstr("\n\n" + example + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Runs, ScreenTest, testing::ValuesIn(TrainingRuns()),
                         [](const auto& run) { return run.param.name; });

}  // namespace
}  // namespace gpubound::golden
