// SPDX-License-Identifier: Apache-2.0
//
// A comparison for a pull request. No state.
#include "analysis/base/text_table.h"
#include "analysis/output/check/compare_screen.h"
#include "analysis/output/check/compare_words.h"
#include "analysis/output/text/markdown.h"

namespace gpubound {
namespace {

constexpr size_t kMostOperations = 8;
constexpr size_t kMostCauses = 4;

std::string Section(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                    size_t group) {
  const ComparedSentences said = SentencesOf(comparison, groups, group);
  std::string text = "**" + MarkdownText(said.finding) + "**\n\n";
  if (!said.reason.empty()) text += MarkdownText(said.reason) + "\n";
  std::vector<std::string> heads = {TitleOf(comparison),
                                    EscapeName(groups.front().name),
                                    EscapeName(groups[group].name),
                                    "difference",
                                    "change",
                                    "95 % interval",
                                    "differs"};
  std::vector<std::vector<std::string>> rows;
  for (const DifferingRow& row :
       MostDifferingRows(comparison, ComparedFigure::kOperationWall, group, kMostOperations)) {
    rows.push_back(CellsOf(row, group));
  }
  rows.push_back(CellsOf(AllOf(comparison, group), group));
  text += MarkdownTable(heads, rows);
  rows.clear();
  for (const DifferingRow& row :
       MostDifferingRows(comparison, ComparedFigure::kIdleCause, group, kMostCauses)) {
    rows.push_back(CellsOf(row, group));
  }
  heads.front() = "GPU idle, by cause";
  if (!rows.empty()) text += MarkdownTable(heads, rows);
  return text + "\n" + MarkdownText(ResamplingSentence(comparison, group)) + ".\n\n";
}

}  // namespace

std::string RenderComparisonMarkdown(const GroupComparison& comparison,
                                     const std::vector<RunGroup>& groups) {
  std::string text;
  for (size_t group = 1; group < groups.size(); ++group) {
    text += Section(comparison, groups, group);
  }
  TextOptions options;
  constexpr int kOneLine = 1'000'000;  // columns
  options.width = kOneLine;
  text += MarkdownList(GroupLines(groups, options));
  for (const std::string& note : comparison.notes) text += MarkdownList(EscapeName(note));
  return text;
}

}  // namespace gpubound
