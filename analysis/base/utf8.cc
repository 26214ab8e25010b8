// SPDX-License-Identifier: Apache-2.0
//
// Checks and escapes names. No state.
#include "analysis/base/utf8.h"

namespace gpubound {

std::optional<Utf8Character> FirstCharacter(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text.front());
  if (lead < 0x80) return Utf8Character{lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return std::nullopt;
  uint32_t code = lead & (0x7fu >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte & 0xc0u) != 0x80u) return std::nullopt;
    code = code << 6 | (byte & 0x3fu);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[bytes] || surrogate || code > 0x10ffff) return std::nullopt;
  return Utf8Character{code, bytes};
}

std::string_view ValidUtf8(std::string_view text, std::string* scratch) {
  bool copied = false;
  size_t at = 0;
  while (at < text.size()) {
    const std::optional<Utf8Character> character = FirstCharacter(text.substr(at));
    if (!character && !copied) {
      scratch->assign(text.substr(0, at));
      copied = true;
    }
    const size_t bytes = character ? character->bytes : 1;
    if (copied) scratch->append(character ? text.substr(at, bytes) : kReplacementCharacter);
    at += bytes;
  }
  return copied ? std::string_view(*scratch) : text;
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
