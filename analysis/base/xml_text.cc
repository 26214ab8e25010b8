// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/base/xml_text.h"

#include <cstdint>
#include <optional>

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

// What XML 1.0 can hold of Unicode.
bool IsAllowed(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n';
  return code != 0xfffe && code != 0xffff;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::optional<Utf8Character> character = FirstCharacter(text);
    const bool allowed = character && IsAllowed(character->code);
    const size_t bytes = allowed ? character->bytes : 1;
    switch (text.front()) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += allowed ? text.substr(0, bytes) : kReplacementCharacter;
    }
    text.remove_prefix(bytes);
  }
  return escaped;
}

}  // namespace gpubound
