// SPDX-License-Identifier: Apache-2.0
//
// Splits into lines and joins them anew. No state.
#include "tools/console/help_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool IsProse(const std::string& line) { return !line.empty() && line.front() != ' '; }

int IndentOf(const std::string& line) {
  return static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
}

}  // namespace

std::string Reflowed(std::string_view text, int width) {
  std::vector<std::string> paragraphs;
  bool goes_on = false;
  for (std::string& line : LinesOf(text)) {
    const bool ends = !IsProse(line) || line.ends_with('.');
    if (goes_on && IsProse(line)) {
      paragraphs.back() += ' ' + line;
    } else {
      paragraphs.push_back(std::move(line));
    }
    goes_on = !ends;
  }
  std::string fitted;
  for (const std::string& paragraph : paragraphs) {
    fitted += Wrap(paragraph, width, IndentOf(paragraph));
  }
  return fitted;
}

std::string Wrapped(std::string_view text, int width) {
  std::string fitted;
  for (const std::string& line : LinesOf(text)) fitted += Wrap(line, width, IndentOf(line) + 2);
  return fitted;
}

}  // namespace gpubound
