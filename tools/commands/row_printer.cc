// SPDX-License-Identifier: Apache-2.0
//
// Formats rows. One object, one thread.
#include "tools/commands/row_printer.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/base/utf8.h"
#include "analysis/output/export/cell_text.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
// Rows that decide how wide the columns of a table are.
constexpr size_t kMeasuredRows = 500;

// Collects text and writes it in large pieces.
class BufferedPrinter : public RowPrinter {
 public:
  int Flush() override {
    if (!text_.empty() && status_ == kExitSuccess) status_ = WriteStdout(text_);
    text_.clear();
    return status_;
  }

 protected:
  // False once nobody reads any more.
  bool Print(std::string_view text) {
    text_ += text;
    return text_.size() < kBufferBytes || Flush() == kExitSuccess;
  }

 private:
  std::string text_;
  int status_ = kExitSuccess;
};

class CsvPrinter : public BufferedPrinter {
 public:
  void Begin(const std::vector<std::string>& columns) override {
    std::string line;
    for (const std::string& column : columns) line += (line.empty() ? "" : ",") + CsvField(column);
    Print(line + "\r\n");
  }
  bool Row(std::span<const Cell> cells) override {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + CsvCell(cells[i]);
    return Print(line + "\r\n");
  }
  void End() override {}
};

// Those of the columns, each once: a later one that is called as another has ":1" behind it, or
// the next number that is free. A join has the names of both tables.
std::vector<std::string> KeysOf(const std::vector<std::string>& columns) {
  std::set<std::string> taken(columns.begin(), columns.end());
  std::set<std::string> used;
  std::vector<std::string> keys;
  for (const std::string& column : columns) {
    std::string key = column;
    for (int number = 1; !used.insert(key).second; ++number) {
      const std::string next = column + ":" + std::to_string(number);
      if (taken.insert(next).second) key = next;
    }
    keys.push_back(key);
  }
  return keys;
}

class JsonPrinter : public BufferedPrinter {
 public:
  void Begin(const std::vector<std::string>& columns) override {
    names_.clear();
    for (const std::string& key : KeysOf(columns)) names_.push_back(JsonString(key));
    first_ = true;
    Print("[");
  }
  bool Row(std::span<const Cell> cells) override {
    std::string object = first_ ? "\n{" : ",\n{";
    first_ = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      object += (i == 0 ? "" : ", ") + names_[i] + ": " + JsonCell(cells[i]);
    }
    return Print(object + "}");
  }
  void End() override { Print(first_ ? "]\n" : "\n]\n"); }

 private:
  std::vector<std::string> names_;
  bool first_ = true;
};

class TablePrinter : public BufferedPrinter {
 public:
  void Begin(const std::vector<std::string>& columns) override {
    rows_.assign(1, {});
    for (const std::string& column : columns) rows_[0].push_back({EscapeName(column), false});
    widths_.clear();
  }
  bool Row(std::span<const Cell> cells) override {
    std::vector<Field>& row = rows_.emplace_back();
    for (const Cell& cell : cells) row.push_back(FieldOf(cell));
    return rows_.size() <= kMeasuredRows || PrintRows();
  }
  void End() override { PrintRows(); }

 private:
  struct Field {
    std::string text;
    bool is_number = false;
  };
  static Field FieldOf(const Cell& cell) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) return {EscapeName(*text), false};
    return {CsvCell(cell), !std::holds_alternative<std::monostate>(cell)};
  }

  void Measure() {
    widths_.assign(rows_[0].size(), 0);
    for (const std::vector<Field>& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        widths_[i] = std::max(widths_[i], DisplayWidth(row[i].text));
      }
    }
    // A head stands over its figures.
    for (size_t i = 0; i < rows_[0].size() && rows_.size() > 1; ++i) {
      rows_[0][i].is_number = rows_[1][i].is_number;
    }
  }

  bool PrintRows() {
    if (widths_.empty()) Measure();
    bool wanted = true;
    for (const std::vector<Field>& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const auto missing =
            static_cast<size_t>(std::max(widths_[i] - DisplayWidth(row[i].text), 0));
        if (i > 0) line += "  ";
        line += row[i].is_number ? std::string(missing, ' ') + row[i].text
                                 : row[i].text + std::string(missing, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      wanted = Print(line + "\n");
    }
    rows_.clear();
    return wanted;
  }

  std::vector<std::vector<Field>> rows_;  // the head is the first
  std::vector<int> widths_;               // empty until they are measured
};

}  // namespace

std::unique_ptr<RowPrinter> MakeRowPrinter(RowFormat format) {
  switch (format) {
    case RowFormat::kCsv:
      return std::make_unique<CsvPrinter>();
    case RowFormat::kJson:
      return std::make_unique<JsonPrinter>();
    case RowFormat::kTable:
      break;
  }
  return std::make_unique<TablePrinter>();
}

}  // namespace gpubound
