// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound check` demands of a run, as a user writes it:
//
//   REQUIREMENT  FIGURE COMPARISON BOUND
//   FIGURE       analysis/output/check/figure.h
//                time_to(TARGET)               analysis/report/target.h
//   COMPARISON   >=  <=  >  <  ==  !=
//   BOUND        NUMBER [UNIT]                 40%, 12.5 ms, 1.2 s, 2x, 100
//                [NUMBER x | NUMBER %] baseline   baseline, 1.1x baseline, 95% baseline
//
// Spaces may stand between any two of these. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_REQUIREMENT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_REQUIREMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/output/check/figure.h"

namespace gpubound {

enum class Comparison : uint8_t {
  kAtLeast,
  kAtMost,
  kMoreThan,
  kLessThan,
  kEqual,
  kNotEqual,
};

enum class BoundUnit : uint8_t { kPlain, kPercent, kTime, kTimes, kOfBaseline };

struct Bound {
  BoundUnit unit = BoundUnit::kPlain;
  double value = 0;  // percent as 0..1, times in ns; a factor of the baseline for kOfBaseline
};

struct Requirement {
  std::string text;
  FigureName figure;
  Comparison comparison = Comparison::kAtLeast;
  Bound bound;
  size_t bound_column = 1;  // of |text|, from 1
};

// What cannot be understood, and where: the columns of |text| count from 1.
struct RequirementMistake {
  size_t column = 1;
  std::string found;
  std::string expected;
  std::string word;  // the name at fault, and those that there are; may be empty
  std::vector<std::string> known;
  std::string meant = {};  // a figure of another group that has the name; may be empty
};

// Understands |text|, checks the name against the catalogue and the unit against the figure's kind.
std::variant<Requirement, RequirementMistake> ParseRequirement(std::string_view text);

// Where the bound of |requirement| is none for a figure of that |kind|.
std::optional<RequirementMistake> UnitMistake(const Requirement& requirement, FigureKind kind);

// Whether it is about something that a report may have from the replays alone
// (ReportOptions::replays): what a pointer names may be any part of it.
bool NeedsReplays(const Requirement& requirement);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_REQUIREMENT_H_
