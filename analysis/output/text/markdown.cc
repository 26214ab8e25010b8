// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/markdown.h"

#include <cstddef>

namespace gpubound {
namespace {

// GitHub makes a mention, or a link to an issue, of what follows these.
constexpr std::string_view kLinking = "@#";
constexpr std::string_view kNothing = "\u200b";  // a space of no width, which keeps it from that
constexpr std::string_view kFormatting = R"(\`*_{}[]<>()|~!$)";

std::string RowOf(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + MarkdownText(cell) + " |";
  return row + "\n";
}

}  // namespace

std::string MarkdownText(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (kFormatting.find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter == '\n' ? ' ' : letter;
    if (kLinking.find(letter) != std::string_view::npos) escaped += kNothing;
  }
  // What looks like an address becomes a link.
  for (const std::string_view address : {"://", "www."}) {
    for (size_t at = escaped.find(address); at != std::string::npos;
         at = escaped.find(address, at + address.size() + kNothing.size())) {
      escaped.insert(at + 1, kNothing);
    }
  }
  return escaped;
}

std::string MarkdownTable(const std::vector<std::string>& heads,
                          const std::vector<std::vector<std::string>>& rows) {
  std::string table = "\n" + RowOf(heads) + "|:--|";
  for (size_t i = 1; i < heads.size(); ++i) table += "--:|";
  table += "\n";
  for (const std::vector<std::string>& row : rows) table += RowOf(row);
  return table;
}

std::string MarkdownList(const std::string& text) {
  std::string list;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end > at) list += "- " + MarkdownText(text.substr(at, end - at)) + "\n";
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return list;
}

}  // namespace gpubound
