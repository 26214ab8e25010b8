// SPDX-License-Identifier: Apache-2.0
//
// Cuts names where it hurts least. No state.
#include "analysis/base/short_name.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "analysis/base/demangle.h"
#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr int kFewestInside = 5;  // columns of a template's arguments that still say something

// What stands between an opening and a closing bracket.
struct Inside {
  size_t begin = 0;
  size_t size = 0;
};

// Of the parentheses that |name| ends in, unless a blank parts them from what they are of:
// "python3 (pid 17)".
Inside FunctionArguments(const std::string& name) {
  if (name.empty() || name.back() != ')') return {};
  int depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] != '(' || --depth != 0) continue;
    return at > 0 && name[at - 1] == ' ' ? Inside{} : Inside{at + 1, name.size() - at - 2};
  }
  return {};
}

// Of the longest angle brackets that stand in no others; nothing where they do not match.
Inside TemplateArguments(const std::string& name) {
  Inside longest;
  size_t begin = 0;
  int depth = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<' && depth++ == 0) begin = at + 1;
    if (name[at] != '>' || (at > 0 && name[at - 1] == '-')) continue;
    if (--depth < 0) return {};
    if (depth == 0 && at - begin > longest.size) longest = {begin, at - begin};
  }
  return depth == 0 ? longest : Inside{};
}

std::string With(const std::string& name, const Inside& inside, const std::string& replacement) {
  return name.substr(0, inside.begin) + replacement + name.substr(inside.begin + inside.size);
}

}  // namespace

std::string ShownName(std::string_view name) {
  if (name.empty()) return "(empty name)";
  std::string shown = EscapeName(name);
  const bool blank = shown.find_first_not_of(' ') == std::string::npos;
  return blank ? '"' + shown + '"' : shown;
}

std::string ShortName(const std::string& name, int width, bool unicode) {
  if (DisplayWidth(name) <= width) return name;
  const std::string ellipsis = unicode ? "…" : "..";
  std::string shorter = name;
  const Inside arguments = FunctionArguments(name);
  if (arguments.size > 2) shorter = With(name, arguments, ellipsis);
  const int over = DisplayWidth(shorter) - width;
  if (over <= 0) return shorter;
  const Inside inside = TemplateArguments(shorter);
  const std::string content = shorter.substr(inside.begin, inside.size);
  const int room = DisplayWidth(content) - over;
  if (inside.size > 0 && room >= kFewestInside) {
    return With(shorter, inside, PadRight(content, room, unicode));
  }
  // Blanks stand in for half of a wide character.
  shorter = PadRight(shorter, width, unicode);
  shorter.erase(shorter.find_last_not_of(' ') + 1);
  return shorter;
}

std::string BareName(const std::string& name) {
  const std::string_view head = HeadOfName(name);
  const size_t space = head.rfind(' ') + 1;  // 0 where there is none, as of the next
  const size_t colon = head.rfind(':') + 1;
  const std::string_view bare = head.substr(std::max(space, colon));
  return bare.empty() ? name : std::string(bare);
}

std::string ListedNames(const std::vector<std::string>& names) {
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMostListedNames; ++i) {
    list += (i == 0 ? "" : ", ") + ShortName(ShownName(names[i]), kNameInSentence, false);
  }
  if (names.size() <= kMostListedNames) return list;
  return list + " and " + std::to_string(names.size() - kMostListedNames) + " more";
}

}  // namespace gpubound
