// SPDX-License-Identifier: Apache-2.0
//
// Compares ranges with bounds. No state.
#include "analysis/output/check/check.h"

#include <algorithm>
#include <cmath>

namespace gpubound {
namespace {

struct Range {
  double low;
  double high;
};

const char* ComparisonText(Comparison comparison) {
  switch (comparison) {
    case Comparison::kAtLeast:
      return "at least ";
    case Comparison::kAtMost:
      return "at most ";
    case Comparison::kMoreThan:
      return "more than ";
    case Comparison::kLessThan:
      return "less than ";
    case Comparison::kEqual:
      return "exactly ";
    case Comparison::kNotEqual:
      return "other than ";
  }
  return "";
}

Outcome Opposite(Outcome outcome) {
  if (outcome == Outcome::kUndecided) return outcome;
  return outcome == Outcome::kHolds ? Outcome::kFails : Outcome::kHolds;
}

// a <= b, or a < b where |strict|.
Outcome IsBelow(const Range& a, const Range& b, bool strict) {
  if (strict ? a.high < b.low : a.high <= b.low) return Outcome::kHolds;
  if (strict ? a.low >= b.high : a.low > b.high) return Outcome::kFails;
  return Outcome::kUndecided;
}

Outcome IsEqual(const Range& a, const Range& b) {
  if (a.high < b.low || b.high < a.low) return Outcome::kFails;
  const bool exact = a.low == a.high && b.low == b.high;
  return exact ? Outcome::kHolds : Outcome::kUndecided;
}

Outcome Compare(const Range& value, Comparison comparison, const Range& bound) {
  switch (comparison) {
    case Comparison::kAtLeast:
      return IsBelow(bound, value, false);
    case Comparison::kAtMost:
      return IsBelow(value, bound, false);
    case Comparison::kMoreThan:
      return IsBelow(bound, value, true);
    case Comparison::kLessThan:
      return IsBelow(value, bound, true);
    case Comparison::kEqual:
      return IsEqual(value, bound);
    case Comparison::kNotEqual:
      return Opposite(IsEqual(value, bound));
  }
  return Outcome::kUndecided;
}

bool IsKnown(const Figure& figure) { return !std::isnan(figure.low); }

// What a requirement is about and what it is compared with, in the same unit.
struct Sides {
  Figure value;
  Figure bound;
};

Figure AsShare(const Figure& time) {
  return {FigureKind::kShare, time.low / time.whole, time.high / time.whole, 0, time.process};
}

Sides SidesOf(const Requirement& requirement, const Figure& figure, const Figure* baseline) {
  const Bound& bound = requirement.bound;
  Sides sides{figure, {figure.kind, bound.value, bound.value, 0, {}}};
  if (bound.unit == BoundUnit::kOfBaseline) {
    sides.bound = *baseline;
    sides.bound.low *= bound.value;
    sides.bound.high *= bound.value;
    if (bound.value < 0) std::swap(sides.bound.low, sides.bound.high);
  } else if (bound.unit == BoundUnit::kPercent && figure.kind == FigureKind::kTime) {
    sides.value = AsShare(figure);
    sides.bound.kind = FigureKind::kShare;
  }
  return sides;
}

// What differs is not to read the same: "41.37 %, expected exactly 41.37 %".
int DigitsThatTell(const Sides& sides) {
  constexpr int kAllDigits = 15;  // that a double holds of any decimal number
  int digits = kFigureDigits;
  const bool differ = sides.value.low != sides.bound.low || sides.value.high != sides.bound.high;
  while (differ && digits < kAllDigits &&
         FormatFigure(sides.value, digits) == FormatFigure(sides.bound, digits)) {
    ++digits;
  }
  return digits;
}

void JudgeOne(const Requirement& requirement, const Figure& figure, const Figure* baseline,
              CheckResult* result) {
  const bool share_of_nothing = requirement.bound.unit == BoundUnit::kPercent &&
                                figure.kind == FigureKind::kTime && figure.whole <= 0;
  if (!IsKnown(figure) || (baseline != nullptr && !IsKnown(*baseline)) || share_of_nothing) {
    result->outcome = Outcome::kUndecided;
    result->found = "not known";
    result->why = share_of_nothing  ? "it would be a share of nothing"
                  : IsKnown(figure) ? "the baseline does not tell"
                                    : "the report does not tell";
    return;
  }
  const Sides sides = SidesOf(requirement, figure, baseline);
  result->outcome = Compare({sides.value.low, sides.value.high}, requirement.comparison,
                            {sides.bound.low, sides.bound.high});
  const int digits = DigitsThatTell(sides);
  result->found =
      FormatFigure(sides.value, digits) + (figure.process.empty() ? "" : " in ") + figure.process;
  result->allowed = ComparisonText(requirement.comparison) + FormatFigure(sides.bound, digits);
  if (result->outcome == Outcome::kUndecided) {
    result->why =
        "GPU time is unknown in part, or bounded as the report's verdict says, so that the figure "
        "is "
        "a range";
  }
}

void NameMissing(const NameProblem& missing, const char* where, CheckResult* result) {
  result->outcome = missing.undecided ? Outcome::kUndecided : Outcome::kFails;
  result->why = missing.what + where;
  result->word = missing.word;
  result->known = missing.known;
}

// Of such a run every figure is a zero that nobody measured.
bool IsEmpty(const Report& report) { return report.processes.empty(); }

int Badness(Outcome outcome) {
  return outcome == Outcome::kFails ? 2 : outcome == Outcome::kUndecided ? 1 : 0;
}

}  // namespace

std::optional<RequirementMistake> MistakeIn(const Requirement& requirement, const Report& report) {
  if (KindOf(requirement.figure)) return std::nullopt;  // it would have been seen before
  for (const Figure& figure : FindFigures(report, requirement.figure).figures) {
    if (!IsKnown(figure)) continue;
    if (auto mistake = UnitMistake(requirement, figure.kind)) return mistake;
  }
  return std::nullopt;
}

CheckResult Judge(const Requirement& requirement, const Report& report, const Report* baseline) {
  CheckResult result;
  result.requirement = requirement.text;
  const bool of_baseline = requirement.bound.unit == BoundUnit::kOfBaseline;
  if (IsEmpty(report) || (of_baseline && IsEmpty(*baseline))) {
    result.why =
        std::string("nothing was recorded in ") + (IsEmpty(report) ? "the run" : "the baseline");
    return result;
  }
  const FoundFigures found = FindFigures(report, requirement.figure);
  if (found.missing) {
    NameMissing(*found.missing, "", &result);
    return result;
  }
  FoundFigures before;
  if (of_baseline) {
    before = FindFigures(*baseline, requirement.figure);
    if (before.missing) {
      NameMissing(*before.missing, " (the baseline)", &result);
      return result;
    }
    if (before.figures.size() > 1) {
      result.why = "several processes of the baseline are called '" + requirement.figure.process +
                   "', so that none can be compared with";
      return result;
    }
  }
  const Figure* const against = before.figures.empty() ? nullptr : &before.figures.front();
  bool first = true;
  for (const Figure& figure : found.figures) {
    CheckResult one;
    one.requirement = requirement.text;
    JudgeOne(requirement, figure, against, &one);
    if (first || Badness(one.outcome) > Badness(result.outcome)) result = std::move(one);
    first = false;
  }
  return result;
}

bool AllHold(const std::vector<CheckResult>& results) {
  return std::all_of(results.begin(), results.end(),
                     [](const CheckResult& result) { return result.outcome == Outcome::kHolds; });
}

}  // namespace gpubound
