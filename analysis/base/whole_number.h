// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers out of what others wrote, where any may be missing or be too large. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_WHOLE_NUMBER_H_
#define GPUBOUND_ANALYSIS_BASE_WHOLE_NUMBER_H_

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace gpubound {

// The decimal number that is all of |text|; nothing for any other text, and beyond 64 bits.
inline std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// |value|, of what names something; 0 where there is none or it does not fit.
constexpr uint32_t U32OrZero(std::optional<int64_t> value) {
  return value && *value > 0 && *value <= UINT32_MAX ? static_cast<uint32_t>(*value) : 0;
}

// |value|, of what counts something, or what is nearest to it; 0 where there is none.
constexpr uint32_t ClampedU32(std::optional<int64_t> value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value.value_or(0), 0, UINT32_MAX));
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_WHOLE_NUMBER_H_
