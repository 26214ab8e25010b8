// SPDX-License-Identifier: Apache-2.0
//
// Writes every figure of comparisons as text, and all as JSON. No state.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/check/compare_screen.h"
#include "analysis/output/check/compare_words.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

const char* FigureText(ComparedFigure figure) {
  switch (figure) {
    case ComparedFigure::kTimeToTarget:
      return "time_to_target";
    case ComparedFigure::kThroughput:
      return "throughput";
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

const char* ColourOf(Direction direction) {
  switch (direction) {
    case Direction::kNone:
      break;
    case Direction::kBetter:
      return "32";
    case Direction::kWorse:
      return "31";
    case Direction::kNeither:
      return "1";
  }
  return "";
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
        heads_({TitleOf(comparison), Head(groups.front()), Head(groups[group]), "change",
                "95 % interval", ""}) {
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
    const ComparedValue& after = row.groups[group_];
    const bool indented = SectionTitle(row.figure) != nullptr;
    rows_.push_back({(indented ? "  " : "") + RowTitle(row), ValueText(row, row.groups.front()),
                     ValueText(row, after), ChangeText(row, after), IntervalText(row, after),
                     after.significant ? "*" : ""});
    colours_.emplace_back(ColourOf(DirectionOf(comparison_, row, after)));
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

std::string IntervalLine(const GroupComparison& comparison, size_t group, bool has_intervals) {
  const std::string how = ResamplingSentence(comparison, group);
  if (comparison.resampling[group] == Resampling::kNothing) return how + ".";
  return "* differs: " + how + (has_intervals ? "." : "; hidden to fit: 95 % interval.");
}

Json VerdictJson(Direction direction) {
  switch (direction) {
    case Direction::kNone:
      break;
    case Direction::kBetter:
      return "better";
    case Direction::kWorse:
      return "worse";
    case Direction::kNeither:
      return "differs";
  }
  return nullptr;
}

Json SpeedJson(const ComparedSpeed& speed, const ComparedSentences& sentences) {
  return Json{{"finding", sentences.finding},
              {"reason", sentences.reason},
              {"ratio", speed.ratio},
              {"low", speed.interval ? Json(speed.interval->low) : Json()},
              {"high", speed.interval ? Json(speed.interval->high) : Json()},
              {"significant", speed.significant},
              {"difference_ns", speed.difference_ns},
              {"operation", speed.operation},
              {"operation_ns", speed.operation_ns},
              {"cause", speed.reason},
              {"cause_ns", speed.reason_ns}};
}

Json ValueJson(const ComparedValue& value, Direction direction) {
  Json json{{"value", value.absent ? Json() : Json(value.value)},
            {"difference", value.difference},
            {"low", nullptr},
            {"high", nullptr},
            {"is_upper_bound", value.is_upper_bound},
            {"is_lower_bound", value.is_lower_bound},
            {"significant", value.significant},
            {"verdict", VerdictJson(direction)}};
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

std::string FullComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                           const TextOptions& options) {
  std::string text = GroupLines(groups, options);
  for (size_t group = 1; group < groups.size(); ++group) {
    const ComparisonTable table(comparison, groups, group, options);
    text += "\n" + SentenceLines(comparison, groups, group, options);
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
    names.push_back(
        Json{{"name", groups[group].name},
             {"runs", groups[group].runs},
             {"resampled", ResamplingText(comparison.resampling[group])},
             {"simulated", IsSimulated(groups[group])},
             {"speed", group == 0 ? Json()
                                  : SpeedJson(comparison.speeds[group],
                                              SentencesOf(comparison, groups, group))}});
  }
  Json figures = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    Json values = Json::array();
    for (const ComparedValue& value : row.groups) {
      values.push_back(ValueJson(value, DirectionOf(comparison, row, value)));
    }
    figures.push_back(Json{{"figure", FigureText(row.figure)},
                           {"name", row.name},
                           {"unit", row.figure == ComparedFigure::kThroughput ? "per_second"
                                    : IsShare(row.figure)                     ? "share"
                                                                              : "ns"},
                           {"groups", values}});
  }
  const Json document{{"format", "gpubound.compare.v1"},
                      {"per_iteration", comparison.per_iteration},
                      {"counter", comparison.counter.empty() ? Json() : Json(comparison.counter)},
                      {"work_unit", comparison.counter.empty() ? Json() : Json(kWorkUnit)},
                      {"seed", comparison.seed},
                      {"replicates", kBootstrapReplicates},
                      {"groups", names},
                      {"figures", figures},
                      {"notes", comparison.notes}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
