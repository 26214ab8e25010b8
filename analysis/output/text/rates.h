// SPDX-License-Identifier: Apache-2.0
//
// How much a program does in a second, as text. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_RATES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_RATES_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "analysis/base/text_table.h"

namespace gpubound {

// "11.2k", "3.14": three digits.
inline std::string RateText(double per_second) {
  constexpr double kThousand = 999.5;
  if (per_second >= kThousand) return FormatCount(static_cast<uint64_t>(std::llround(per_second)));
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", per_second);
  return text.data();
}

// What a counter of work counts: "env steps".
inline std::string WorkText(const std::string& counter) {
  return counter == "env_steps" ? "env steps" : EscapeName(counter);
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_RATES_H_
