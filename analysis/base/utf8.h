// SPDX-License-Identifier: Apache-2.0
//
// Names in a trace are bytes of somebody else's: what formats that know only UTF-8 get of them.
// Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_UTF8_H_
#define GPUBOUND_ANALYSIS_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpubound {

// What a byte that is no part of a character is replaced by: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 0;
};

// The character that |text|, which is not empty, begins with; nothing where it begins with none.
// Overlong forms, surrogates and what lies beyond U+10FFFF are none.
std::optional<Utf8Character> FirstCharacter(std::string_view text);

// |text| where it is UTF-8, else a copy in |*scratch| with U+FFFD for every byte that does not fit.
// The result is valid as long as both are.
std::string_view ValidUtf8(std::string_view text, std::string* scratch);

// |text| with quotes, as JSON wants it; bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

// |text| as a field of RFC 4180: in quotes where it has a comma, a quote, a line break or a blank
// at an end.
std::string CsvField(std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_UTF8_H_
