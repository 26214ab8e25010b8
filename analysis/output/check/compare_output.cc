// SPDX-License-Identifier: Apache-2.0
//
// Writes comparisons as text and as JSON. No state.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

const char* FigureText(ComparedFigure figure) {
  switch (figure) {
    case ComparedFigure::kRunWall:
      return "run_wall";
    case ComparedFigure::kIterationMedian:
      return "iteration_median";
    case ComparedFigure::kIterationMean:
      return "iteration_mean";
    case ComparedFigure::kProcessBusyShare:
      return "process_gpu_busy";
    case ComparedFigure::kGpuBusyShare:
      return "gpu_busy";
    case ComparedFigure::kOperationWall:
      return "operation_wall";
    case ComparedFigure::kOperationBusy:
      return "operation_gpu_busy";
    case ComparedFigure::kIdleCause:
      return "gpu_idle";
  }
  return "";
}

const char* ResamplingText(Resampling resampling) {
  switch (resampling) {
    case Resampling::kRuns:
      return "runs";
    case Resampling::kIterations:
      return "iterations";
    case Resampling::kNothing:
      break;
  }
  return "nothing";
}

std::string RowTitle(const ComparedRow& row) {
  switch (row.figure) {
    case ComparedFigure::kRunWall:
      return "Whole run";
    case ComparedFigure::kIterationMedian:
      return "Iteration, median";
    case ComparedFigure::kIterationMean:
      return "Iteration, mean";
    case ComparedFigure::kProcessBusyShare:
      return "Iteration, GPU busy";
    case ComparedFigure::kGpuBusyShare:
      return "GPU busy";
    case ComparedFigure::kIdleCause:
      return "  " + CauseText(row.name, /*python=*/false);
    case ComparedFigure::kOperationWall:
    case ComparedFigure::kOperationBusy:
      break;
  }
  return "  " + ShownName(row.name);
}

const char* SectionTitle(ComparedFigure figure) {
  switch (figure) {
    case ComparedFigure::kOperationWall:
      return "Wall time";
    case ComparedFigure::kOperationBusy:
      return "GPU busy in";
    case ComparedFigure::kIdleCause:
      return "GPU idle by cause";
    default:
      return nullptr;
  }
}

std::string Signed(const char* format, double number) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

// |difference| as a part of |before|, or in points for a share.
std::string ChangeText(const ComparedRow& row, double before, double difference) {
  if (IsShare(row.figure)) return Signed("%+.1f pt", difference * 100);
  const double change = difference / before;
  // As little as is left is not all gone; likewise FormatShare().
  if (change < -0.99 && change > -0.9995) return Signed("%+.1f %%", std::ceil(change * 1000) / 10);
  return Signed(std::abs(change) < 0.0995 ? "%+.1f %%" : "%+.0f %%", change * 100);
}

std::string ValueText(const ComparedRow& row, const ComparedValue& value) {
  if (value.absent) return "-";
  const std::string text =
      IsShare(row.figure) ? FormatShare(value.value) : FormatTime(std::llround(value.value));
  return Bounded(value.is_upper_bound, value.is_lower_bound, text);
}

// Less time is better; so is a busier GPU. How the GPU's own time changes is neither.
const char* ColourOf(const ComparedRow& row, double difference) {
  if (row.figure == ComparedFigure::kOperationBusy) return "1";
  return (difference > 0) == IsShare(row.figure) ? "32" : "31";
}

// Too small to be worth a line in every group: below a thousandth of the largest of its kind.
bool IsNegligible(const ComparedRow& row, double largest) {
  return std::all_of(row.groups.begin(), row.groups.end(), [largest](const ComparedValue& value) {
    return value.value < largest / 1000;
  });
}

double LargestTime(const GroupComparison& comparison) {
  double largest = 0;
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure != ComparedFigure::kOperationWall) continue;
    for (const ComparedValue& value : row.groups) largest = std::max(largest, value.value);
  }
  return largest;
}

constexpr size_t kIntervalColumn = 4;
constexpr int kLongestGroupName = 12;  // above a column

class ComparisonTable {
 public:
  ComparisonTable(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                  size_t group, const TextOptions& options)
      : comparison_(comparison),
        group_(group),
        options_(options),
        heads_({comparison.per_iteration ? "Each iteration" : "", Head(groups.front()),
                Head(groups[group]), "change", "95 % interval", ""}) {
    const double largest = LargestTime(comparison_);
    ComparedFigure section = ComparedFigure::kRunWall;
    for (const ComparedRow& row : comparison_.rows) {
      const char* title = SectionTitle(row.figure);
      if (title != nullptr && IsNegligible(row, largest)) continue;
      if (title != nullptr && row.figure != section) AddTitle(title);
      section = row.figure;
      AddRow(row);
    }
    has_intervals_ = SmallestWidth() <= options_.width;
    if (!has_intervals_) LeaveOutIntervals();
  }

  // Whether there is room for them.
  bool has_intervals() const { return has_intervals_; }

  std::string Render() const {
    TextTable table(heads_);
    for (const std::vector<std::string>& cells : rows_) table.AddRow(cells);
    const std::string text = table.Render(options_.width, 0, options_.unicode);
    return options_.color ? Coloured(text) : text;
  }

 private:
  std::string Head(const RunGroup& group) const {
    return ShortName(EscapeName(group.name), kLongestGroupName, options_.unicode);
  }

  void AddTitle(const char* title) {
    rows_.push_back({title, "", "", "", "", ""});
    colours_.emplace_back();
  }

  void AddRow(const ComparedRow& row) {
    const ComparedValue& before = row.groups.front();
    const ComparedValue& after = row.groups[group_];
    std::string change = "new";
    std::string interval;
    if (before.absent || after.absent) {
      change = "";
    } else if (before.value > 0 && after.value == 0) {
      change = "gone";
    } else if (before.value > 0) {
      change = ChangeText(row, before.value, after.difference);
      if (after.interval) {
        interval = ChangeText(row, before.value, after.interval->low) + " to " +
                   ChangeText(row, before.value, after.interval->high);
      }
    } else if (after.value == 0) {
      change = "";
    }
    rows_.push_back({RowTitle(row), ValueText(row, before), ValueText(row, after), change, interval,
                     after.significant ? "*" : ""});
    colours_.emplace_back(after.significant ? ColourOf(row, after.difference) : "");
  }

  // What the table takes where names are cut as far as they may be.
  int SmallestWidth() const {
    int all = 0;
    for (size_t column = 0; column < heads_.size(); ++column) {
      int needed = DisplayWidth(heads_[column]);
      for (const auto& cells : rows_) needed = std::max(needed, DisplayWidth(cells[column]));
      all += column == 0 ? std::min(needed, kSmallestTableName) : 1 + needed;
    }
    return all;
  }

  void LeaveOutIntervals() {
    heads_.erase(heads_.begin() + kIntervalColumn);
    for (auto& cells : rows_) cells.erase(cells.begin() + kIntervalColumn);
  }

  // Painted by lines, so that colours do not count as columns.
  std::string Coloured(const std::string& text) const {
    std::string painted;
    size_t at = 0;
    for (size_t line = 0; at < text.size(); ++line) {
      const size_t end = text.find('\n', at);
      const std::string colour = line == 0 ? "" : colours_[line - 1];
      const std::string words = text.substr(at, end - at);
      painted += colour.empty() ? words : "\033[" + colour + "m" + words + "\033[0m";
      painted += '\n';
      at = end + 1;
    }
    return painted;
  }

  const GroupComparison& comparison_;
  const size_t group_;
  const TextOptions& options_;
  bool has_intervals_ = true;
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::string> colours_;
};

std::string GroupLines(const std::vector<RunGroup>& groups, const TextOptions& options) {
  std::string text;
  for (const RunGroup& group : groups) {
    std::string line = EscapeName(group.name) + ":";
    for (size_t run = 0; run < group.runs.size(); ++run) {
      line += (run == 0 ? " " : ", ") + EscapeName(group.runs[run]);
      const ReportProcess* process = SteppingProcess(group.reports[run]);
      if (process != nullptr) {
        line += " (" + FormatCount(process->iterations->count) + " iterations)";
      }
    }
    text += Wrap(line, options.width, 2);
  }
  return text;
}

std::string IntervalLine(const GroupComparison& comparison, size_t group, bool has_intervals) {
  const Resampling resampling = comparison.resampling[group];
  if (resampling == Resampling::kNothing) {
    return "No interval can be given: that takes several runs of each, or " +
           std::to_string(kFewestToResample) + " iterations after warm-up in one run of each.";
  }
  return std::string(has_intervals ? "* differs: 95 % bootstrap interval over "
                                   : "* differs, by bootstrap over ") +
         ResamplingText(resampling) + ", seed " + std::to_string(comparison.seed) +
         (has_intervals ? "." : "; hidden to fit: 95 % interval.");
}

Json ValueJson(const ComparedValue& value) {
  Json json{{"value", value.absent ? Json() : Json(value.value)},
            {"difference", value.difference},
            {"low", nullptr},
            {"high", nullptr},
            {"is_upper_bound", value.is_upper_bound},
            {"is_lower_bound", value.is_lower_bound},
            {"significant", value.significant}};
  if (value.interval) {
    json["low"] = value.interval->low;
    json["high"] = value.interval->high;
  }
  return json;
}

// Some of its GPU times are those of a model.
bool IsSimulated(const RunGroup& group) {
  return std::any_of(group.reports.begin(), group.reports.end(),
                     [](const Report& report) { return report.device_kind == "simulated"; });
}

}  // namespace

std::string RenderComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                             const TextOptions& options) {
  std::string text = GroupLines(groups, options);
  for (size_t group = 1; group < groups.size(); ++group) {
    const ComparisonTable table(comparison, groups, group, options);
    text += "\n" + table.Render() + "\n";
    text += Wrap(IntervalLine(comparison, group, table.has_intervals()), options.width, 2);
  }
  for (const std::string& note : comparison.notes) {
    text += Wrap("note: " + EscapeName(note), options.width, 2);
  }
  return text;
}

std::string RenderComparisonJson(const GroupComparison& comparison,
                                 const std::vector<RunGroup>& groups) {
  Json names = Json::array();
  for (size_t group = 0; group < groups.size(); ++group) {
    names.push_back(Json{{"name", groups[group].name},
                         {"runs", groups[group].runs},
                         {"resampled", ResamplingText(comparison.resampling[group])},
                         {"simulated", IsSimulated(groups[group])}});
  }
  Json figures = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    Json values = Json::array();
    for (const ComparedValue& value : row.groups) values.push_back(ValueJson(value));
    figures.push_back(Json{{"figure", FigureText(row.figure)},
                           {"name", row.name},
                           {"unit", IsShare(row.figure) ? "share" : "ns"},
                           {"groups", values}});
  }
  const Json document{{"format", "gpubound.compare.v1"},
                      {"per_iteration", comparison.per_iteration},
                      {"seed", comparison.seed},
                      {"replicates", kBootstrapReplicates},
                      {"groups", names},
                      {"figures", figures},
                      {"notes", comparison.notes}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
