// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/check/compare_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/cause_rules.h"

namespace gpubound {
namespace {

std::string Signed(const char* format, double number) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

// |difference| as a part of |before|, or in points for a share.
std::string Change(const ComparedRow& row, double before, double difference) {
  if (IsShare(row.figure)) return Signed("%+.1f pt", difference * 100);
  const double change = difference / before;
  // As little as is left is not all gone; likewise FormatShare().
  if (change < -0.99 && change > -0.9995) return Signed("%+.1f %%", std::ceil(change * 1000) / 10);
  return Signed(std::abs(change) < 0.0995 ? "%+.1f %%" : "%+.0f %%", change * 100);
}

}  // namespace

const ComparedRow* SpeedRow(const GroupComparison& comparison) {
  const auto figure =
      comparison.per_iteration ? ComparedFigure::kThroughput : ComparedFigure::kRunWall;
  return &*std::find_if(comparison.rows.begin(), comparison.rows.end(),
                        [figure](const ComparedRow& row) { return row.figure == figure; });
}

std::string WorkUnitText(const GroupComparison& comparison) {
  return "1,000 " + WorkText(comparison.counter);
}

std::string RowTitle(const ComparedRow& row) {
  switch (row.figure) {
    case ComparedFigure::kTimeToTarget:
      return "Time to " + ShownName(row.name);
    case ComparedFigure::kThroughput: {
      std::string work = WorkText(row.name) + " per second";
      work[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(work[0])));
      return work;
    }
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
      return CauseText(row.name, /*python=*/false);
    case ComparedFigure::kOperationWall:
    case ComparedFigure::kOperationBusy:
      break;
  }
  return ShownName(row.name);
}

std::string ValueText(const ComparedRow& row, const ComparedValue& value) {
  if (value.absent) return "-";
  if (row.figure == ComparedFigure::kThroughput) return RateText(value.value);
  const std::string text =
      IsShare(row.figure) ? FormatShare(value.value) : FormatTime(std::llround(value.value));
  return Bounded(value.is_upper_bound, value.is_lower_bound, text);
}

std::string ChangeText(const ComparedRow& row, const ComparedValue& value) {
  const ComparedValue& before = row.groups.front();
  if (before.absent || value.absent) return "";
  if (before.value > 0 && value.value == 0) return "gone";
  if (before.value > 0) return Change(row, before.value, value.difference);
  return value.value == 0 ? "" : "new";
}

std::string IntervalText(const ComparedRow& row, const ComparedValue& value) {
  const ComparedValue& before = row.groups.front();
  if (!value.interval || value.absent || before.value <= 0 || value.value == 0) return "";
  return Change(row, before.value, value.interval->low) + " to " +
         Change(row, before.value, value.interval->high);
}

std::string ResamplingSentence(const GroupComparison& comparison, size_t group) {
  switch (comparison.resampling[group]) {
    case Resampling::kRuns:
      return "95 % bootstrap interval over runs, seed " + std::to_string(comparison.seed);
    case Resampling::kIterations:
      return "95 % bootstrap interval over iterations, seed " + std::to_string(comparison.seed);
    case Resampling::kNothing:
      break;
  }
  return "No interval can be given: that takes several runs of each, or " +
         std::to_string(kFewestToResample) + " iterations after warm-up in one run of each";
}

Direction DirectionOf(const GroupComparison& comparison, const ComparedRow& row,
                      const ComparedValue& value) {
  if (!value.significant) return Direction::kNone;
  bool more_is_better = false;
  switch (row.figure) {
    case ComparedFigure::kOperationBusy:
      return Direction::kNeither;
    case ComparedFigure::kRunWall:  // of as many iterations as there are
      if (comparison.per_iteration) return Direction::kNeither;
      break;
    case ComparedFigure::kIterationMedian:
    case ComparedFigure::kIterationMean:
      if (!comparison.counter.empty()) return Direction::kNeither;
      break;
    case ComparedFigure::kProcessBusyShare:
    case ComparedFigure::kGpuBusyShare:
      if (!comparison.counter.empty()) return Direction::kNeither;
      more_is_better = true;
      break;
    case ComparedFigure::kThroughput:
      more_is_better = true;
      break;
    case ComparedFigure::kTimeToTarget:
    case ComparedFigure::kOperationWall:
    case ComparedFigure::kIdleCause:
      break;
  }
  return (value.difference > 0) == more_is_better ? Direction::kBetter : Direction::kWorse;
}

}  // namespace gpubound
