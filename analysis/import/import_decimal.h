// SPDX-License-Identifier: Apache-2.0
//
// Times of foreign traces: microseconds written as decimal numbers, with any number of digits.
// They are read digit by digit, never through binary floating point, which at today's epoch is
// coarser than the nanoseconds wanted. Pure.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_DECIMAL_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpubound {

// The JSON number |text|, in microseconds, as nanoseconds rounded half up (towards positive
// infinity). Nothing where |text| is no JSON number or the result has more than 63 bits.
std::optional<int64_t> NanosecondsOf(std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_DECIMAL_H_
