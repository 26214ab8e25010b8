// SPDX-License-Identifier: Apache-2.0
//
// Formats figures and lays out columns. No state.
#include "analysis/base/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

std::string ThreeDigits(double value, const char* unit) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f%s", decimals, value, unit);
  return text.data();
}

// A byte that is no part of a character takes the room of one.
Utf8Character FirstOf(std::string_view text) {
  return FirstCharacter(text).value_or(Utf8Character{0, 1});
}

// Could move the cursor, change colours or turn the direction of what follows.
bool IsHarmful(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

int WidthOf(uint32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || c == 0x200b || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f)) {
    return 0;  // combining
  }
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

// The longest prefix of |text| of at most |width| columns, in bytes.
size_t PrefixOf(std::string_view text, int width) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Character c = FirstOf(text.substr(at));
    width -= WidthOf(c.code);
    if (width < 0) break;
    at += c.bytes;
  }
  return at;
}

// What FormatTime and FormatShare put behind a figure, with what a sentence puts behind that.
bool IsUnit(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:)]").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s", "h", "d", "%", "x"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

// How much of |text| must stay on one line: a word, or a figure with its unit.
size_t UnbreakableFront(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return text.size();
  if (space == 0 || text[space - 1] < '0' || text[space - 1] > '9') return space;
  const size_t end = std::min(text.find(' ', space + 1), text.size());
  return IsUnit(text.substr(space + 1, end - space - 1)) ? end : space;
}

}  // namespace

std::string FormatTime(int64_t ns, bool raw) {
  if (raw) return std::to_string(ns);
  if (ns == 0) return "0";
  if (ns < 0) return "-" + FormatTime(-ns);
  if (ns < 1000) return std::to_string(ns) + " ns";
  const double value = static_cast<double>(ns);
  if (value < 999.5e3) return ThreeDigits(value / 1e3, " us");
  if (value < 999.5e6) return ThreeDigits(value / 1e6, " ms");
  if (value < 9999.5e9) return ThreeDigits(value / 1e9, " s");
  if (value < 999.5 * 3600e9) return ThreeDigits(value / 3600e9, " h");
  return ThreeDigits(value / 86400e9, " d");
}

double ShareOf(int64_t part_ns, int64_t whole_ns) {
  return Ratio(static_cast<double>(part_ns), static_cast<double>(whole_ns));
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string FormatShare(double share) {
  const double percent = 100 * share;
  if (percent <= 0) return "0 %";
  if (percent < 0.1) return "<0.1 %";
  if (percent > 99 && percent < 99.95) return ThreeDigits(std::floor(percent * 10) / 10, " %");
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
  return text.data();
}

std::string UpTo(bool is_upper_bound, const std::string& figure) {
  return (is_upper_bound ? "<= " : "") + figure;
}

std::string Bounded(bool is_upper_bound, bool is_lower_bound, const std::string& figure) {
  if (is_upper_bound && is_lower_bound) return "about " + figure;
  return is_lower_bound ? ">= " + figure : UpTo(is_upper_bound, figure);
}

std::string FormatCount(uint64_t count) {
  if (count < 10000) return std::to_string(count);
  const double value = static_cast<double>(count);
  if (value < 999.5e3) return ThreeDigits(value / 1e3, "k");
  if (value < 999.5e6) return ThreeDigits(value / 1e6, "M");
  return ThreeDigits(value / 1e9, "G");
}

std::string FormatBytes(int64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (bytes < 1024) return std::to_string(bytes) + " B";
  for (const char* unit : {" KiB", " MiB"}) {
    value /= 1024;
    if (value < 1023.5) return ThreeDigits(value, unit);
  }
  return ThreeDigits(value / 1024, " GiB");
}

std::string Counted(uint64_t count, std::string_view noun) {
  return FormatCount(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string EscapeName(std::string_view name) {
  std::string escaped;
  while (!name.empty()) {
    const std::optional<Utf8Character> c = FirstCharacter(name);
    const size_t bytes = c ? c->bytes : 1;
    if (c && !IsHarmful(c->code)) {
      escaped += name.substr(0, bytes);
    } else {
      for (size_t i = 0; i < bytes; ++i) {
        std::array<char, 8> hex;
        std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned char>(name[i]));
        escaped += hex.data();
      }
    }
    name.remove_prefix(bytes);
  }
  return escaped;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Utf8Character c = FirstOf(text);
    width += WidthOf(c.code);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string PadRight(const std::string& text, int width, bool unicode) {
  int used = DisplayWidth(text);
  if (used <= width) return text + std::string(static_cast<size_t>(width - used), ' ');
  // Names differ at both ends: what they belong to in front, what they do behind.
  const std::string ellipsis = unicode ? "…" : "..";
  const int room = std::max(0, width - DisplayWidth(ellipsis));
  const std::string front = text.substr(0, PrefixOf(text, room - room / 2));
  size_t back = 0;
  for (int behind = used; back < text.size() && behind > room / 2;) {
    const Utf8Character c = FirstOf(std::string_view(text).substr(back));
    behind -= WidthOf(c.code);
    back += c.bytes;
  }
  const std::string cut = front + ellipsis + text.substr(back);
  used = DisplayWidth(cut);
  return cut + std::string(static_cast<size_t>(std::max(0, width - used)), ' ');
}

std::string PadLeft(const std::string& text, int width) {
  const int missing = width - DisplayWidth(text);
  return missing <= 0 ? text : std::string(static_cast<size_t>(missing), ' ') + text;
}

std::string Wrap(const std::string& text, int width, int indent) {
  std::string wrapped;
  std::string line;
  std::string_view rest = text;
  const auto flush = [&] {
    wrapped += line + "\n";
    line = std::string(static_cast<size_t>(indent), ' ');
  };
  bool at_start = true;
  while (!rest.empty()) {
    const size_t end = UnbreakableFront(rest);
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!at_start && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      flush();
      at_start = true;
    }
    if (!at_start) line += ' ';
    line += word;
    at_start = false;
  }
  flush();
  return wrapped;
}

void TextTable::AddRow(std::vector<std::string> cells, std::string tail) {
  rows_.push_back({std::move(cells), std::move(tail)});
}

std::vector<int> TextTable::Widths() const {
  std::vector<int> widths;
  for (size_t column = 0; column < heads_.size(); ++column) {
    int needed = DisplayWidth(heads_[column]);
    for (const Row& row : rows_) needed = std::max(needed, DisplayWidth(row.cells[column]));
    widths.push_back(needed);
  }
  return widths;
}

namespace {

// How many bytes |a| and |b| have in common in front, whole characters.
size_t SharedFront(const std::string& a, const std::string& b) {
  size_t at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  while (at > 0 && at < a.size() && (static_cast<uint8_t>(a[at]) & 0xc0) == 0x80) --at;
  return at;
}

// |name|, of which what stands before |differs| is that of another one, in |width| columns.
std::string CutBefore(const std::string& name, size_t differs, int width, bool unicode) {
  const std::string ellipsis = unicode ? "…" : "..";
  const std::string front = name.substr(0, PrefixOf(name, width / 3)) + ellipsis;
  const std::string back = name.substr(differs);
  const int room = width - DisplayWidth(front);
  if (DisplayWidth(back) <= room) return PadRight(front + back, width, unicode);
  const int shown = std::max(0, room - DisplayWidth(ellipsis));
  return PadRight(front + back.substr(0, PrefixOf(back, shown)) + ellipsis, width, unicode);
}

// Of the names of |group| that is how much all have in common in front; nothing of one name alone.
std::optional<size_t> SharedFront(const std::vector<std::string>& names,
                                  const std::vector<size_t>& group) {
  std::optional<size_t> shared;
  const std::string& first = names[group.front()];
  for (const size_t i : group) {
    if (names[i] == first) continue;
    shared = std::min(shared.value_or(SIZE_MAX), SharedFront(names[i], first));
  }
  return shared;
}

// |names| in |width| columns each. Those that would read the same show where they begin to differ;
// of many, those that still do where these do.
std::vector<std::string> CutApart(const std::vector<std::string>& names, int width, bool unicode) {
  constexpr int kRounds = 4;
  std::vector<std::string> cut;
  for (const std::string& name : names) cut.push_back(PadRight(name, width, unicode));
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < names.size(); ++i) alike[cut[i]].push_back(i);
    for (const auto& [text, group] : alike) {
      const std::optional<size_t> shared = SharedFront(names, group);
      if (!shared) continue;
      for (const size_t i : group) cut[i] = CutBefore(names[i], *shared, width, unicode);
      changed = changed || cut[group.front()] != text;
    }
  }
  return cut;
}

}  // namespace

std::string TextTable::Render(int width, int tail_width, bool unicode) const {
  std::vector<int> widths = Widths();
  const int figures = std::accumulate(widths.begin() + 1, widths.end(), tail_width);
  const int gaps = static_cast<int>(widths.size()) - (tail_width > 0 ? 0 : 1);
  const int gap = std::min(widths[0], kLongestTableName) + figures + 2 * gaps <= width ? 2 : 1;
  widths[0] = std::min(widths[0], std::max(kSmallestTableName, width - figures - gap * gaps));
  const std::string between(static_cast<size_t>(gap), ' ');

  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.cells[0]);
  names = CutApart(names, widths[0], unicode);

  std::string text;
  const auto line = [&](const std::string& name, const std::vector<std::string>& cells,
                        const std::string& tail) {
    text += name;
    for (size_t column = 1; column < cells.size(); ++column) {
      text += between + PadLeft(cells[column], widths[column]);
    }
    if (!tail.empty()) text += between + tail;
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  };
  line(PadRight(heads_[0], widths[0], unicode), heads_, {});
  for (size_t i = 0; i < rows_.size(); ++i) line(names[i], rows_[i].cells, rows_[i].tail);
  return text;
}

std::string TextTable::RenderInParts(int width, bool unicode) const {
  const std::vector<int> widths = Widths();
  std::string text;
  for (size_t first = 1; first < heads_.size();) {
    int used = std::min(widths[0], kSmallestTableName) + 1 + widths[first];
    size_t end = first + 1;
    while (end < heads_.size() && used + 1 + widths[end] <= width) used += 1 + widths[end++];
    const auto part_of = [first, end](const std::vector<std::string>& cells) {
      std::vector<std::string> part{cells[0]};
      for (size_t column = first; column < end; ++column) part.push_back(cells[column]);
      return part;
    };
    TextTable part(part_of(heads_));
    for (const Row& row : rows_) part.AddRow(part_of(row.cells));
    text += (first == 1 ? "" : "\n") + part.Render(width, 0, unicode);
    first = end;
  }
  return text;
}

}  // namespace gpubound
