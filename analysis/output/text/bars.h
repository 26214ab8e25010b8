// SPDX-License-Identifier: Apache-2.0
//
// What bars beside tables are made of. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_BARS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_BARS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gpubound {

// Columns of a terminal from which on the screen's tables have bars.
inline constexpr int kWidthForBars = 76;

inline std::string Repeat(std::string_view symbol, int64_t times) {
  std::string text;
  for (int64_t i = 0; i < times; ++i) text += symbol;
  return text;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_BARS_H_
