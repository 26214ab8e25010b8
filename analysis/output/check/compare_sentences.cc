// SPDX-License-Identifier: Apache-2.0
//
// Says how fast a group is and what made it so. No state.
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/check/compare_words.h"

namespace gpubound {
namespace {

std::string Factor(double factor) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), factor < 9.995 ? "%.2f" : "%.3g", factor);
  return text.data();
}

// "1.31 x [1.25, 1.38]"
std::string RatioText(const ComparedSpeed& speed) {
  std::string text = Factor(speed.ratio) + " x";
  if (speed.interval) {
    text += " [" + Factor(speed.interval->low) + ", " + Factor(speed.interval->high) + "]";
  }
  return text;
}

std::string LessOrMore(double ns) {
  return FormatTime(std::llround(std::abs(ns))) + (ns < 0 ? " less" : " more");
}

std::string ForWhat(const GroupComparison& comparison) {
  if (!comparison.counter.empty()) return " for " + WorkUnitText(comparison);
  return comparison.per_iteration ? " in an iteration" : " in all";
}

// Before what was not seen in repeated runs of both: how these vary says nothing of repeats.
std::string OfWhichRuns(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                        size_t group) {
  if (comparison.resampling[group] == Resampling::kRuns) return {};
  const bool two = groups.front().reports.size() == 1 && groups[group].reports.size() == 1;
  return two ? "Of these two runs, " : "Of these runs, ";
}

std::string Reason(const GroupComparison& comparison, const ComparedSpeed& speed) {
  if (speed.operation.empty()) return {};
  std::string text = "Most of it is " + InOperation(speed.operation) + ", which takes " +
                     LessOrMore(speed.operation_ns) + ForWhat(comparison) + " (all together " +
                     LessOrMore(speed.difference_ns) + ")";
  if (speed.reason == kGpuWork) {
    text += ": its GPU work takes " + LessOrMore(speed.reason_ns);
  } else if (!speed.reason.empty()) {
    text += ": the GPU is idle " + LessOrMore(speed.reason_ns) + " (" +
            CauseText(speed.reason, /*python=*/false) + ")";
  }
  return text + ".";
}

}  // namespace

ComparedSentences SentencesOf(const GroupComparison& comparison,
                              const std::vector<RunGroup>& groups, size_t group) {
  const ComparedSpeed& speed = comparison.speeds[group];
  const std::string first = EscapeName(groups.front().name);
  const std::string name = EscapeName(groups[group].name);
  const ComparedRow* row = SpeedRow(comparison);
  const std::string values =
      ValueText(*row, row->groups[group]) + " instead of " + ValueText(*row, row->groups.front());
  std::string finding;
  if (comparison.per_iteration) {
    finding = name + " does " + RatioText(speed) + " the " + WorkText(row->name) +
              " per second of " + first + ": " + values;
  } else {
    finding =
        name + " runs at " + RatioText(speed) + " the speed of " + first + ": it takes " + values;
  }
  if (!speed.interval) {
    finding += "; whether that is more than chance is not known";
  } else if (!speed.significant) {
    finding += ", which may be chance";
  }
  return {OfWhichRuns(comparison, groups, group) + finding + ".", Reason(comparison, speed)};
}

}  // namespace gpubound
