// SPDX-License-Identifier: Apache-2.0
//
// Which iterations of a run are to be recorded: `gpubound run --steps A:B` and GPUBOUND_STEPS.
// Plain value without a thread rule.
#ifndef GPUBOUND_PROTO_STEP_RANGE_H_
#define GPUBOUND_PROTO_STEP_RANGE_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace gpubound {

// Iterations |begin| to |end| - 1, by the numbers that end them (gpubound_api::step, from 0 where
// the program does not choose them): what range(begin, end) has in Python.
struct StepRange {
  uint64_t begin = 0;
  uint64_t end = UINT64_MAX;
  bool is_all() const { return begin == 0 && end == UINT64_MAX; }
};

// "100:110", "100:", ":110". Absent where |text| is no range that holds an iteration.
inline std::optional<StepRange> ParseStepRange(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto read = [](std::string_view part, uint64_t* number) {
    if (part.empty()) return true;  // that side is open
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *number);
    return error == std::errc() && end == part.data() + part.size();
  };
  StepRange range;
  const bool sound =
      read(text.substr(0, colon), &range.begin) && read(text.substr(colon + 1), &range.end);
  // Larger ones are numbers below 0 to those who count iterations.
  constexpr uint64_t kLargest = INT64_MAX;
  if (!sound || range.begin >= range.end || range.begin > kLargest) return std::nullopt;
  return range;
}

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_STEP_RANGE_H_
