// SPDX-License-Identifier: Apache-2.0
//
// Puts the screen of a comparison together. No state.
#include "analysis/output/check/compare_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/check/compare_words.h"
#include "analysis/output/text/paint.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

constexpr std::ptrdiff_t kScreenLines = 27;
constexpr int kLongestOverColumn = 9;  // above a column
constexpr double kWorthARow = 0.001;   // of the longest time of the table

std::string Painted(const std::string& line, Direction direction, const TextOptions& options) {
  if (!options.color || direction == Direction::kNone) return line;
  const char* const code = direction == Direction::kBetter  ? "32"
                           : direction == Direction::kWorse ? "31"
                                                            : "1";
  return std::string("\033[") + code + "m" + line + "\033[0m";
}

}  // namespace

std::string DifferenceText(double ns) {
  if (std::llround(ns) == 0) return "";
  return (ns < 0 ? "-" : "+") + FormatTime(std::llround(std::abs(ns)));
}

namespace {

std::string PercentText(double before, double after) {
  if (before <= 0 || after <= 0)
    return before <= 0 && after <= 0 ? "" : before <= 0 ? "new" : "gone";
  std::array<char, 32> text;
  const double change = (after / before - 1) * 100;
  std::snprintf(text.data(), text.size(), std::abs(change) < 9.95 ? "%+.1f %%" : "%+.0f %%",
                change);
  return text.data();
}

std::string TimeText(const DifferingRow& row, size_t group) {
  if (row.row != nullptr) return ValueText(*row.row, row.row->groups[group]);
  return FormatTime(std::llround(group == 0 ? row.before_ns : row.after_ns));
}

}  // namespace

std::vector<std::string> CellsOf(const DifferingRow& row, size_t group) {
  std::vector<std::string> cells = {row.name,
                                    TimeText(row, 0),
                                    TimeText(row, group),
                                    DifferenceText(row.after_ns - row.before_ns),
                                    PercentText(row.before_ns, row.after_ns),
                                    "",
                                    ""};
  if (row.row == nullptr) return cells;
  const ComparedValue& value = row.row->groups[group];
  cells[4] = ChangeText(*row.row, value);
  cells[5] = IntervalText(*row.row, value);
  cells[6] = value.significant ? "*" : "";
  return cells;
}

namespace {

class ScreenTable {
 public:
  ScreenTable(const GroupComparison& comparison, size_t group, const TextOptions& options,
              std::vector<std::string> heads)
      : comparison_(comparison), group_(group), options_(options), table_(std::move(heads)) {}

  void Add(const DifferingRow& row) {
    table_.AddRow(CellsOf(row, group_));
    directions_.push_back(row.row == nullptr
                              ? Direction::kNone
                              : DirectionOf(comparison_, *row.row, row.row->groups[group_]));
  }
  void Add(const ComparedRow& row) {
    const ComparedValue& value = row.groups[group_];
    table_.AddRow({RowTitle(row), ValueText(row, row.groups.front()), ValueText(row, value), "",
                   ChangeText(row, value), IntervalText(row, value), value.significant ? "*" : ""});
    directions_.push_back(DirectionOf(comparison_, row, value));
  }
  void AddTitle(const std::string& title) {
    table_.AddRow({title, "", "", "", "", "", ""});
    directions_.push_back(Direction::kNone);
  }

  // Painted by lines, so that colours do not count as columns.
  std::string Render() const {
    const std::string text = table_.Render(options_.width, 0, options_.unicode);
    std::string painted;
    size_t at = 0;
    for (size_t line = 0; at < text.size(); ++line) {
      const size_t end = text.find('\n', at);
      const std::string words = text.substr(at, end - at);
      painted += (line == 0 ? words : Painted(words, directions_[line - 1], options_)) + "\n";
      at = end + 1;
    }
    return painted;
  }

 private:
  const GroupComparison& comparison_;
  const size_t group_;
  const TextOptions& options_;
  TextTable table_;
  std::vector<Direction> directions_;
};

struct Extent {
  size_t operations = 0;  // rows
  size_t causes = 0;
};

}  // namespace

DifferingRow AllOf(const GroupComparison& comparison, size_t group) {
  if (!comparison.per_iteration) {
    const ComparedRow* wall = SpeedRow(comparison);
    return {"whole run", wall, wall->groups[0].value, wall->groups[group].value};
  }
  DifferingRow all{"all", nullptr, 0, 0};
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure != ComparedFigure::kOperationWall) continue;
    all.before_ns += row.groups[0].value;
    all.after_ns += row.groups[group].value;
  }
  return all;
}

namespace {

std::string Section(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                    size_t group, const TextOptions& options, const Extent& extent) {
  const auto head = [&](const RunGroup& of) {
    return ShortName(EscapeName(of.name), kLongestOverColumn, options.unicode);
  };
  ScreenTable table(comparison, group, options,
                    {TitleOf(comparison), head(groups.front()), head(groups[group]), "difference",
                     "change", "95 % interval", ""});
  for (const DifferingRow& row :
       MostDifferingRows(comparison, ComparedFigure::kOperationWall, group, extent.operations)) {
    table.Add(row);
  }
  table.Add(AllOf(comparison, group));
  const std::vector<DifferingRow> causes =
      MostDifferingRows(comparison, ComparedFigure::kIdleCause, group, extent.causes);
  if (extent.causes > 0 && !causes.empty()) {
    table.AddTitle("GPU idle, by cause");
    for (const DifferingRow& row : causes) table.Add(row);
  }
  for (const ComparedRow& row : comparison.rows) {
    const bool of_run =
        row.figure == ComparedFigure::kGpuBusyShare || row.figure == ComparedFigure::kTimeToTarget;
    if (of_run) table.Add(row);
  }
  return SentenceLines(comparison, groups, group, options) + "\n" + table.Render();
}

std::string Compose(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                    const TextOptions& options, const Extent& extent) {
  std::string text;
  for (size_t group = 1; group < groups.size(); ++group) {
    text += Section(comparison, groups, group, options, extent);
    const std::string how = ResamplingSentence(comparison, group);
    const bool marks = comparison.resampling[group] != Resampling::kNothing;
    text += Wrap((marks ? "* differs: " : "") + how + ".", options.width, 2) + "\n";
  }
  text += GroupLines(groups, options);
  for (size_t i = 0; i < comparison.caveats; ++i) {
    text += Wrap("! " + EscapeName(comparison.notes[i]), options.width, 2);
  }
  const size_t more = comparison.notes.size() - comparison.caveats;
  const std::string notes =
      more == 0 ? "" : " (" + std::to_string(more) + (more == 1 ? " note)" : " notes)");
  return text + "\n" +
         Wrap("More: --full" + notes + ", --html FILE, --format markdown, --json", options.width,
              2);
}

}  // namespace

std::string TitleOf(const GroupComparison& comparison) {
  if (!comparison.counter.empty()) return WorkUnitText(comparison);
  return comparison.per_iteration ? "Each iteration" : "Whole run";
}

std::string GroupLines(const std::vector<RunGroup>& groups, const TextOptions& options) {
  std::string text;
  for (const RunGroup& group : groups) {
    std::string line = EscapeName(group.name) + ":";
    for (size_t run = 0; run < group.runs.size(); ++run) {
      line += (run == 0 ? " " : ", ") + EscapeName(group.runs[run]);
      const ReportProcess* process = SteppingProcess(group.reports[run]);
      if (process != nullptr) {
        line += " (" + Counted(process->iterations->count, "iteration") + ")";
      }
    }
    text += Wrap(line, options.width, 2);
  }
  return text;
}

std::string SentenceLines(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                          size_t group, const TextOptions& options) {
  const ComparedSentences said = SentencesOf(comparison, groups, group);
  const std::string finding = Wrap(said.finding, options.width, 2);
  std::string text =
      gpubound::Painted(finding.substr(0, finding.size() - 1), Paint::kBold, options) + "\n";
  if (!said.reason.empty()) text += Wrap(said.reason, options.width, 2);
  return text;
}

std::vector<DifferingRow> MostDifferingRows(const GroupComparison& comparison,
                                            ComparedFigure figure, size_t group, size_t most) {
  std::vector<DifferingRow> rows;
  double longest = 0;
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure != figure) continue;
    const double before = row.groups.front().absent ? 0 : row.groups.front().value;
    const double after = row.groups[group].absent ? 0 : row.groups[group].value;
    rows.push_back({RowTitle(row), &row, before, after});
    longest = std::max({longest, before, after});
  }
  std::erase_if(rows, [longest](const DifferingRow& row) {
    return std::max(row.before_ns, row.after_ns) < kWorthARow * longest;
  });
  std::stable_sort(rows.begin(), rows.end(), [](const DifferingRow& a, const DifferingRow& b) {
    return std::abs(a.after_ns - a.before_ns) > std::abs(b.after_ns - b.before_ns);
  });
  if (rows.size() <= std::max<size_t>(most, 1)) return rows;
  DifferingRow others{"", nullptr, 0, 0};
  const size_t named = most > 0 ? most - 1 : 0;
  for (size_t i = named; i < rows.size(); ++i) {
    others.before_ns += rows[i].before_ns;
    others.after_ns += rows[i].after_ns;
  }
  others.name = std::to_string(rows.size() - named) + " others";
  rows.resize(named);
  rows.push_back(others);
  return rows;
}

std::string RenderComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                             const TextOptions& options) {
  if (options.full) return FullComparison(comparison, groups, options);
  // What makes it longer than a screen is what matters least.
  constexpr std::array<Extent, 5> kExtents = {{{6, 4}, {6, 3}, {5, 2}, {4, 0}, {2, 0}}};
  std::string text;
  for (const Extent& extent : kExtents) {
    text = Compose(comparison, groups, options, extent);
    if (std::count(text.begin(), text.end(), '\n') <= kScreenLines) break;
  }
  return text;
}

}  // namespace gpubound
