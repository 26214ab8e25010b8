// SPDX-License-Identifier: Apache-2.0
//
// Reads decimals exactly: the digits, and where the decimal point falls among them once the number
// is counted in nanoseconds. No state.
#include "analysis/import/import_decimal.h"

#include <algorithm>
#include <string>

namespace gpubound {
namespace {

constexpr int kNanosecondDigits = 3;        // a microsecond has 10^3 ns
constexpr int64_t kLargestExponent = 1000;  // beyond, the value is zero or too large anyway

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the front of |text|.
std::string_view TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

bool TakeSign(std::string_view* text, char sign) {
  if (text->empty() || text->front() != sign) return false;
  text->remove_prefix(1);
  return true;
}

// "e+12" and its like, which has to be all of |text|; nothing where it is not.
std::optional<int64_t> ExponentOf(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  const bool negative = TakeSign(&text, '-');
  if (!negative) TakeSign(&text, '+');
  const std::string_view digits = TakeDigits(&text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char digit : digits) value = std::min(value * 10 + (digit - '0'), kLargestExponent);
  return negative ? -value : value;
}

}  // namespace

std::optional<int64_t> NanosecondsOf(std::string_view text) {
  const bool negative = TakeSign(&text, '-');
  const std::string_view whole = TakeDigits(&text);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  std::string_view fraction;
  if (TakeSign(&text, '.')) {
    fraction = TakeDigits(&text);
    if (fraction.empty()) return std::nullopt;
  }
  const std::optional<int64_t> exponent = ExponentOf(text);
  if (!exponent) return std::nullopt;

  const auto digit_at = [&](int64_t place) -> int {
    const auto at = static_cast<size_t>(place);
    if (at < whole.size()) return whole[at] - '0';
    return at - whole.size() < fraction.size() ? fraction[at - whole.size()] - '0' : 0;
  };
  const auto digits = static_cast<int64_t>(whole.size() + fraction.size());
  // Digits before this place are whole nanoseconds.
  const int64_t point = static_cast<int64_t>(whole.size()) + kNanosecondDigits + *exponent;
  int64_t value = 0;
  for (int64_t place = 0; place < point; ++place) {
    if (value == 0 && place >= digits) break;  // zero, however many places
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{digit_at(place)}, &value)) {
      return std::nullopt;
    }
  }
  if (point < 0 || point >= digits || digit_at(point) < 5) return negative ? -value : value;
  // Half up: of a negative value the half itself goes towards zero.
  bool away = !negative || digit_at(point) > 5;
  for (int64_t place = point + 1; !away && place < digits; ++place) away = digit_at(place) != 0;
  if (away && __builtin_add_overflow(value, int64_t{1}, &value)) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace gpubound
