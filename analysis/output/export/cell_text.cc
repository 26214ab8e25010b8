// SPDX-License-Identifier: Apache-2.0
//
// Formats values. No state.
#include "analysis/output/export/cell_text.h"

#include <charconv>
#include <cmath>

#include "analysis/base/utf8.h"

namespace gpubound {

std::string RealText(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  return {digits, end};
}

std::string CsvCell(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return RealText(*real);
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    return text->empty() ? "\"\"" : CsvField(*text);  // nothing at all is NULL
  }
  return "";
}

std::string JsonCell(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) {
    return std::isfinite(*real) ? RealText(*real) : "null";
  }
  if (const auto* text = std::get_if<std::string_view>(&cell)) return JsonString(*text);
  return "null";
}

}  // namespace gpubound
