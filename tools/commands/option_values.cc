// SPDX-License-Identifier: Apache-2.0
//
// Numbers with and without units. No state.
#include "tools/commands/option_values.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/base/suggestion.h"

namespace gpubound {
namespace {

struct Unit {
  const char* name;
  double scale;
};

constexpr double kSecond = 1e9;
constexpr Unit kTimes[] = {{"ms", 1e6},           {"s", kSecond},        {"m", 60 * kSecond},
                           {"min", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86400 * kSecond}};
constexpr char kTimeExamples[] = "500ms, 30s, 10m, 2h, 1d";
constexpr double kLongestDays = 36500;

constexpr double kKilo = 1024;
constexpr Unit kSizes[] = {{"KB", kKilo},
                           {"KiB", kKilo},
                           {"MB", kKilo* kKilo},
                           {"MiB", kKilo* kKilo},
                           {"GB", kKilo* kKilo* kKilo},
                           {"GiB", kKilo* kKilo* kKilo},
                           {"TB", kKilo* kKilo* kKilo* kKilo},
                           {"TiB", kKilo* kKilo* kKilo* kKilo}};
constexpr char kSizeExamples[] = "500MB, 1GB";
constexpr double kMostBytes = 1e18;  // less than what fits

template <typename Number>
std::optional<Number> WholeText(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::variant<double, Complaint> WithUnit(const std::string& text, std::span<const Unit> units,
                                         const char* what, const char* examples) {
  const size_t unit_at = std::min(text.find_first_not_of("0123456789.+-eE"), text.size());
  const std::string_view unit_text =
      std::string_view(text).substr(std::min(text.find_first_not_of(' ', unit_at), text.size()));
  const std::optional<double> number = WholeText<double>(std::string_view(text).substr(0, unit_at));
  if (number && unit_text.empty()) return fmt::format("'{}' lacks a unit: {}", text, examples);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
    return strcasecmp(std::string(unit_text).c_str(), candidate.name) == 0;
  });
  if (number && unit != units.end() && *number >= 0) return *number * unit->scale;
  return fmt::format("'{}' is no {}: {}", text, what, examples);
}

}  // namespace

std::variant<int64_t, Complaint> ParseDuration(const std::string& text) {
  const auto parsed = WithUnit(text, kTimes, "time", kTimeExamples);
  const double* const ns = std::get_if<double>(&parsed);
  if (ns == nullptr) return *std::get_if<Complaint>(&parsed);
  if (*ns <= kLongestDays * 86400 * kSecond) return static_cast<int64_t>(*ns);
  return fmt::format("'{}' is more than {}d", text, kLongestDays);
}

std::variant<int64_t, Complaint> ParseSeconds(const std::string& text) {
  std::variant<int64_t, Complaint> parsed = ParseDuration(ParseNumber(text) ? text + "s" : text);
  const int64_t* const ns = std::get_if<int64_t>(&parsed);
  if (ns != nullptr && *ns == 0) return fmt::format("'{}' is no time to record anything", text);
  return parsed;
}

std::variant<uint64_t, Complaint> ParseSize(const std::string& text, uint64_t least) {
  const auto parsed = WithUnit(text, kSizes, "size", kSizeExamples);
  const double* const bytes = std::get_if<double>(&parsed);
  if (bytes == nullptr) return *std::get_if<Complaint>(&parsed);
  if (*bytes > kMostBytes) return fmt::format("'{}' is more than there can be", text);
  if (*bytes >= static_cast<double>(least)) return static_cast<uint64_t>(*bytes);
  return fmt::format("'{}' is less than {:.4g}MB", text,
                     static_cast<double>(least) / (kKilo * kKilo));
}

std::optional<double> ParseNumber(const std::string& text) { return WholeText<double>(text); }

ValueRule OneOf(const std::vector<std::string>& words) {
  const auto complaint = [words](const std::string& text) -> Complaint {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    const std::string closest = ClosestName(text, words);
    return fmt::format("'{}' is none of {}{}", text, fmt::join(words, ", "),
                       closest.empty() ? "" : fmt::format(". Did you mean '{}'?", closest));
  };
  return {complaint, words};
}

ValueRule NotEmpty() {
  const auto complaint = [](const std::string& text) {
    return text.empty() ? Complaint("the word is empty (a variable that is not set?)")
                        : Complaint();
  };
  return {complaint, {}};
}

ValueRule NewFolder() {
  const auto complaint = [](const std::string& text) {
    if (text != "-") return NotEmpty().complaint(text);
    return Complaint("a run is a directory and no stdout; './-' is one of that name");
  };
  return {complaint, {}};
}

ValueRule WholeNumber(uint64_t least, uint64_t most) {
  const auto complaint = [=](const std::string& text) -> Complaint {
    const std::optional<uint64_t> number = WholeText<uint64_t>(text);
    if (number && *number >= least && *number <= most) return "";
    return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  };
  return {complaint, {}};
}

ValueRule NumberWithin(double least, double most) {
  const auto complaint = [=](const std::string& text) -> Complaint {
    const std::optional<double> number = WholeText<double>(text);
    if (number && *number >= least && *number <= most) return "";
    return fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
  return {complaint, {}};
}

}  // namespace gpubound
