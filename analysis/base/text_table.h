// SPDX-License-Identifier: Apache-2.0
//
// Building blocks of text reports: times and shares in few characters, names that cannot harm a
// terminal, columns that line up. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_TEXT_TABLE_H_
#define GPUBOUND_ANALYSIS_BASE_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

// Three significant digits and a unit, at most 7 characters: "12.3 ms". |raw|: the integer.
std::string FormatTime(int64_t ns, bool raw = false);

// 0 without a whole.
double ShareOf(int64_t part_ns, int64_t whole_ns);
double Ratio(double part, double whole);

// "41 %", and with a decimal below 10 %: "4.1 %". Never "0 %" or "100 %" for what is neither.
std::string FormatShare(double share);

// |figure| as it is, or "<= 41 %".
std::string UpTo(bool is_upper_bound, const std::string& figure);

// |figure| as it is, or "<= 41 %", ">= 41 %", and where it may be less or more "about 41 %".
std::string Bounded(bool is_upper_bound, bool is_lower_bound, const std::string& figure);

// "1234", "12.3k", "4.56M".
std::string FormatCount(uint64_t count);

// "512 B", "1.50 KiB", "12.3 GiB".
std::string FormatBytes(int64_t bytes);

// "1 iteration", "12.3k iterations". |noun| has a plural in -s.
std::string Counted(uint64_t count, std::string_view noun);

// |name| with control characters, direction overrides and bytes that are not UTF-8 as \xNN.
std::string EscapeName(std::string_view name);

// Columns that |text| (escaped, without colour) takes on a terminal.
int DisplayWidth(std::string_view text);

// |text| in exactly |width| columns, cut with "..." or "…" in the middle where it is too long.
std::string PadRight(const std::string& text, int width, bool unicode);
std::string PadLeft(const std::string& text, int width);

// |text| in lines of at most |width| columns, broken at spaces but for that between a figure and
// its unit; every line but the first begins with |indent| spaces. Ends in a newline.
std::string Wrap(const std::string& text, int width, int indent);

// What a column of names gets at least, and before its table is set more tightly.
inline constexpr int kSmallestTableName = 10;
inline constexpr int kLongestTableName = 18;

// A table: the first column is a name on the left, the others are figures on the right, each as
// wide as it needs to be. The name column takes what the figures leave, up to |width|. Columns
// stand closer together before names are cut to less than kLongestTableName.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads) : heads_(std::move(heads)) {}

  // |cells| as many as heads. |tail| is put behind the row as it is and may hold colours.
  void AddRow(std::vector<std::string> cells, std::string tail = {});

  // The lines, none wider than |width| where that is possible. |tail_width|: columns of the widest
  // tail, 0 without tails.
  std::string Render(int width, int tail_width, bool unicode) const;

  // The same without tails, as several tables of some columns each where even the shortest names
  // leave no room for all.
  std::string RenderInParts(int width, bool unicode) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string tail;
  };
  // Of each column what it needs.
  std::vector<int> Widths() const;

  std::vector<std::string> heads_;
  std::vector<Row> rows_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_TEXT_TABLE_H_
