// SPDX-License-Identifier: Apache-2.0
//
// Cuts a target into its parts. No state.
#include "analysis/report/target.h"

#include <charconv>
#include <cmath>

namespace gpubound {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr std::string_view kOver = "over";
constexpr size_t kMostRecords = 1'000'000;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

Error Mistake(std::string_view text, std::string_view found, const char* expected) {
  return {
      "understanding the target", "'" + std::string(text) + "'",
      found.empty() ? "nothing" : "'" + std::string(found) + "'", expected,
      "Write METRIC>=VALUE or METRIC<=VALUE, as in 'return>=450'; ' over 20' at its end makes it "
      "the mean of 20 records."};
}

// All of |text| is a number.
template <typename Number>
bool Read(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Target> ParseTarget(std::string_view all) {
  const std::string_view text = Trimmed(all);
  Target target;
  target.text = text;
  const bool quoted = text.starts_with('"');
  const size_t name_end = quoted ? text.find('"', 1) : text.find_first_of("<>=! \t");
  if (name_end == std::string_view::npos || name_end == (quoted ? 1 : 0)) {
    return Mistake(text, quoted ? "an open or empty quote" : text, "a metric and a comparison");
  }
  target.metric = text.substr(quoted ? 1 : 0, name_end - (quoted ? 1 : 0));
  std::string_view rest = Trimmed(text.substr(name_end + (quoted ? 1 : 0)));
  if (!rest.starts_with(">=") && !rest.starts_with("<=")) {
    return Mistake(text, rest, ">= or <=");
  }
  target.at_least = rest.starts_with('>');
  rest = Trimmed(rest.substr(2));
  if (const size_t over = rest.find(kOver); over != std::string_view::npos) {
    const std::string_view records = Trimmed(rest.substr(over + kOver.size()));
    if (!Read(records, &target.records) || target.records < 1 || target.records > kMostRecords) {
      return Mistake(text, records, "a number of records, from 1 to 1,000,000");
    }
    rest = Trimmed(rest.substr(0, over));
  }
  if (!Read(rest, &target.value) || !std::isfinite(target.value)) {
    return Mistake(text, rest, "a number");
  }
  return target;
}

}  // namespace gpubound
