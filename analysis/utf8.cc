// SPDX-License-Identifier: Apache-2.0
//
// Checks and escapes names. No state.
#include "analysis/utf8.h"

#include <cstddef>
#include <cstdint>

namespace gpubound {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

uint8_t ByteAt(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<uint8_t>(text[at]) : uint8_t{0};
}

bool Continues(uint8_t byte) { return (byte & 0xc0u) == 0x80u; }

// Bytes of the character at |at|; 0 where there is none. Overlong forms, surrogates and what lies
// beyond U+10FFFF are none.
size_t CharacterLength(std::string_view text, size_t at) {
  const uint8_t first = ByteAt(text, at);
  const uint8_t second = ByteAt(text, at + 1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !Continues(second)) return 0;
  if (first < 0xe0) return 2;
  if (!Continues(ByteAt(text, at + 2))) return 0;
  if (first < 0xf0) {
    const bool overlong = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (!Continues(ByteAt(text, at + 3))) return 0;
  const bool overlong = first == 0xf0 && second < 0x90;
  const bool beyond = first == 0xf4 && second >= 0x90;
  return overlong || beyond ? 0 : 4;
}

}  // namespace

std::string_view ValidUtf8(std::string_view text, std::string* scratch) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text, at);
    if (length == 0) break;
    at += length;
  }
  if (at == text.size()) return text;
  scratch->assign(text.substr(0, at));
  while (at < text.size()) {
    const size_t length = CharacterLength(text, at);
    scratch->append(length == 0 ? kReplacement : text.substr(at, length));
    at += length == 0 ? 1 : length;
  }
  return *scratch;
}

std::string JsonString(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string scratch;
  std::string json = "\"";
  for (const char c : ValidUtf8(text, &scratch)) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (c == '\n') {
      json += "\\n";
    } else if (c == '\t') {
      json += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      json += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string CsvField(std::string_view text) {
  std::string scratch;
  const std::string_view valid = ValidUtf8(text, &scratch);
  const bool blank_at_end = !valid.empty() && (valid.front() == ' ' || valid.back() == ' ');
  if (!blank_at_end && valid.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(valid);
  }
  std::string field = "\"";
  for (const char c : valid) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

}  // namespace gpubound
