// SPDX-License-Identifier: Apache-2.0
//
// A recursive descent parser without recursion: the grammar is one line. One object, one text.
#include "analysis/output/check/requirement.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/report/target.h"

namespace gpubound {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr std::string_view kNoNameLetters = " \t\"<>=!.@";
constexpr std::string_view kTimeTo = "time_to(";
constexpr char kComparisons[] = "one of >=, <=, >, <, ==, !=";
constexpr char kUnits[] = "a unit: %, ns, us, ms, s, min, h, x, or 'x baseline'";

struct Unit {
  const char* name;
  BoundUnit unit;
  double scale;
};
constexpr std::array<Unit, 9> kUnitNames{{{"%", BoundUnit::kPercent, 0.01},
                                          {"ns", BoundUnit::kTime, 1},
                                          {"us", BoundUnit::kTime, 1e3},
                                          {"µs", BoundUnit::kTime, 1e3},
                                          {"ms", BoundUnit::kTime, 1e6},
                                          {"s", BoundUnit::kTime, 1e9},
                                          {"min", BoundUnit::kTime, 60e9},
                                          {"h", BoundUnit::kTime, 3600e9},
                                          {"x", BoundUnit::kTimes, 1}}};

const char* ExpectedUnit(FigureKind kind) {
  switch (kind) {
    case FigureKind::kShare:
      return "a share such as 40% or 0.4, or 'baseline'";
    case FigureKind::kTime:
      return "a time such as 12.5 ms, a share of the whole such as 40%, or 'baseline'";
    case FigureKind::kCount:
      return "a plain number, or 'baseline'";
    case FigureKind::kRatio:
      return "a factor such as 2x, or 'baseline'";
  }
  return "";
}

// |any_sign|: a number of the JSON, of which nobody says that it cannot be negative.
bool Suits(const Bound& bound, FigureKind kind, bool any_sign) {
  if (bound.value < 0 && !any_sign) return false;
  switch (bound.unit) {
    case BoundUnit::kPlain:
      if (kind == FigureKind::kShare) return bound.value <= 1;  // more is a percentage, most likely
      return kind != FigureKind::kTime || bound.value == 0;
    case BoundUnit::kPercent:
      return kind == FigureKind::kShare || kind == FigureKind::kTime;
    case BoundUnit::kTime:
      return kind == FigureKind::kTime;
    case BoundUnit::kTimes:
      return kind == FigureKind::kRatio;
    case BoundUnit::kOfBaseline:
      return true;
  }
  return false;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { requirement_.text = text; }

  std::variant<Requirement, RequirementMistake> Parse() {
    SkipSpaces();
    const size_t figure_at = at_;
    if (!ParseFigure() || !CheckName(figure_at) || !ParseComparison() || !ParseBound()) {
      return std::move(mistake_);
    }
    return std::move(requirement_);
  }

 private:
  bool Fail(size_t at, std::string found, std::string expected) {
    mistake_.column = at + 1;
    mistake_.found = std::move(found);
    mistake_.expected = std::move(expected);
    return false;
  }
  bool Fail(std::string expected) { return Fail(at_, Here(), std::move(expected)); }

  // What a user sees at the current place: a word, or one sign.
  std::string Here() const {
    if (at_ >= text_.size()) return "the end";
    size_t end = text_.find_first_of(kNoNameLetters, at_);
    if (end == std::string_view::npos) end = text_.size();
    if (end == at_) ++end;
    return "'" + EscapeName(text_.substr(at_, end - at_)) + "'";
  }

  void SkipSpaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }
  bool Take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool ParseFigure() {
    if (at_ < text_.size() && text_[at_] == '/') return ParsePointer();
    if (text_.substr(at_).starts_with(kTimeTo)) return ParseTimeTo();
    FigureName& figure = requirement_.figure;
    bool quoted = false;
    std::string first;
    if (!ParseName(&first, &quoted)) return false;
    if (Take('.')) {
      figure.group = std::move(first);
      figure.quoted = quoted;
      bool field_quoted = false;
      if (!ParseName(&figure.field, &field_quoted)) return false;
    } else if (quoted) {
      return Fail("'.' and a figure, as in \"" + EscapeName(first) + "\".wall");
    } else {
      figure.field = std::move(first);
    }
    bool ignored = false;
    return !Take('@') || ParseName(&figure.process, &ignored);
  }

  bool ParsePointer() {
    size_t end = text_.find_first_of("<>=! \t", at_);
    if (end == std::string_view::npos) end = text_.size();
    requirement_.figure.pointer = text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  bool ParseTimeTo() {
    const size_t open_at = at_;
    at_ += kTimeTo.size();
    const size_t end = text_.find(')', at_);
    if (end == std::string_view::npos)
      return Fail(open_at, "an open parenthesis", "a ')' that closes it");
    const Result<Target> target = ParseTarget(text_.substr(at_, end - at_));
    if (!target.ok()) return Fail(at_, target.error().found, target.error().expected);
    requirement_.figure.target = target->text;
    at_ = end + 1;
    return true;
  }

  bool ParseName(std::string* name, bool* quoted) {
    if (Take('"')) {
      const size_t open_at = at_ - 1;
      name->clear();
      do {  // two quotes within are one of the name
        if (at_ > open_at + 1) *name += '"';
        const size_t end = text_.find('"', at_);
        if (end == std::string_view::npos) return Fail(open_at, "an open quote", "'\"' at its end");
        *name += text_.substr(at_, end - at_);
        at_ = end + 1;
      } while (Take('"'));
      *quoted = true;
      return !name->empty() || Fail(open_at, "an empty name", "a name");
    }
    size_t end = text_.find_first_of(kNoNameLetters, at_);
    if (end == std::string_view::npos) end = text_.size();
    if (end == at_) return Fail("a figure such as gpu_busy or simulation.wall");
    *name = text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  bool CheckName(size_t figure_at) {
    std::optional<NameProblem> problem = MistakeIn(requirement_.figure);
    if (!problem) return true;
    mistake_.word = std::move(problem->word);
    mistake_.known = std::move(problem->known);
    mistake_.meant = std::move(problem->meant);
    const size_t field = text_.find(requirement_.figure.field, figure_at);
    return Fail(field == std::string_view::npos ? figure_at : field,
                "a name that is not there (" + EscapeName(problem->what) + ")", "");
  }

  bool ParseComparison() {
    SkipSpaces();
    const size_t at = at_;
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '\0' || std::string_view("<>=!").find(first) == std::string_view::npos) {
      return Fail(kComparisons);
    }
    ++at_;
    const bool equal = Take('=');
    Comparison& comparison = requirement_.comparison;
    switch (first) {
      case '>':
        comparison = equal ? Comparison::kAtLeast : Comparison::kMoreThan;
        return true;
      case '<':
        comparison = equal ? Comparison::kAtMost : Comparison::kLessThan;
        return true;
      default:
        comparison = first == '=' ? Comparison::kEqual : Comparison::kNotEqual;
        return equal || Fail(at, "'" + std::string(1, first) + "'", kComparisons);
    }
  }

  bool ParseBound() {
    SkipSpaces();
    const size_t bound_at = at_;
    requirement_.bound_column = bound_at + 1;
    Bound& bound = requirement_.bound;
    if (TakeUnit("baseline")) {
      bound = {BoundUnit::kOfBaseline, 1};
    } else if (!ParseNumber() || !ParseUnit()) {
      return false;
    }
    SkipSpaces();
    if (at_ < text_.size()) return Fail("the end");
    if (const std::optional<FigureKind> kind = KindOf(requirement_.figure)) {
      std::optional<RequirementMistake> mistake = UnitMistake(requirement_, *kind);
      if (mistake) mistake_ = std::move(*mistake);
      return !mistake;
    }
    const bool suits = bound.unit != BoundUnit::kTime && bound.unit != BoundUnit::kPercent;
    return suits || Fail(bound_at, "'" + EscapeName(text_.substr(bound_at)) + "'",
                         "a plain number, a factor such as 2x, or 'baseline'");
  }

  bool ParseNumber() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const bool digit = begin < end && (std::string_view("0123456789.-").find(*begin) !=
                                       std::string_view::npos);  // no "inf", no "nan"
    double& value = requirement_.bound.value;
    const auto [stop, error] = digit ? std::from_chars(begin, end, value)
                                     : std::from_chars_result{begin, std::errc::invalid_argument};
    if (error != std::errc() || !std::isfinite(value)) {
      return Fail("a number, or 'baseline'");
    }
    at_ += static_cast<size_t>(stop - begin);
    return true;
  }

  bool ParseUnit() {
    SkipSpaces();
    Bound& bound = requirement_.bound;
    if (at_ == text_.size()) return true;
    for (const Unit& unit : kUnitNames) {
      if (!TakeUnit(unit.name)) continue;
      bound = {unit.unit, bound.value * unit.scale};
      SkipSpaces();
      if (!TakeUnit("baseline")) return true;
      const bool factor = unit.unit == BoundUnit::kTimes || unit.unit == BoundUnit::kPercent;
      bound.unit = BoundUnit::kOfBaseline;
      return factor || Fail("a factor before 'baseline', as in 1.1x baseline");
    }
    return Fail(kUnits);
  }

  // A unit ends where a word does, so that "1 milli" is not "1 m" of something.
  bool TakeUnit(std::string_view name) {
    if (!text_.substr(at_).starts_with(name)) return false;
    const size_t end = at_ + name.size();
    const bool whole =
        name == "%" || end == text_.size() || kSpaces.find(text_[end]) != std::string_view::npos;
    if (whole) at_ = end;
    return whole;
  }

  std::string_view text_;
  size_t at_ = 0;
  Requirement requirement_;
  RequirementMistake mistake_;
};

}  // namespace

std::variant<Requirement, RequirementMistake> ParseRequirement(std::string_view text) {
  return Parser(text).Parse();
}

std::optional<RequirementMistake> UnitMistake(const Requirement& requirement, FigureKind kind) {
  if (Suits(requirement.bound, kind, !requirement.figure.pointer.empty())) return std::nullopt;
  RequirementMistake mistake;
  mistake.column = requirement.bound_column;
  mistake.found = "'" + EscapeName(requirement.text.substr(mistake.column - 1)) + "'";
  mistake.expected = ExpectedUnit(kind);
  return mistake;
}

bool NeedsReplays(const Requirement& requirement) {
  const FigureName& figure = requirement.figure;
  return !figure.pointer.empty() || (figure.group.empty() && figure.field == "gpu_limited");
}

}  // namespace gpubound
