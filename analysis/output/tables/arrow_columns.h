// SPDX-License-Identifier: Apache-2.0
//
// Rows as Arrow's columns: a builder for each column, and what is built as structures of the C data
// interface that own their memory, so that they live as long as whoever took them.
//
// Thread rule: a builder is of one thread; what was exported may be released on any.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_COLUMNS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_COLUMNS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/output/tables/arrow_c.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {

struct ArrowColumn {
  std::string name;
  ColumnType type = ColumnType::kInteger;
  // A text of which the values are few: each row has a number, and a dictionary says what it means.
  bool dictionary = false;
};

// Texts one after the other, of which |i| lies from offset |i| to the next. Arrow takes UTF-8 alone:
// other bytes become U+FFFD.
class ArrowTexts {
 public:
  void Add(std::string_view text);
  std::string_view At(size_t i) const {
    const auto begin = static_cast<size_t>(offsets_[i]);
    return std::string_view(bytes_).substr(begin, static_cast<size_t>(offsets_[i + 1]) - begin);
  }
  size_t size() const { return offsets_.size() - 1; }
  const int64_t* offsets() const { return offsets_.data(); }
  const char* bytes() const { return bytes_.data(); }

 private:
  std::string bytes_;
  std::vector<int64_t> offsets_{0};
};

// Collects the rows of a column, and gives them away.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(ArrowColumn column) : column_(std::move(column)) {}

  const ArrowColumn& column() const { return column_; }
  size_t size() const { return size_; }
  void Reserve(size_t rows);
  // A cell of the column's type, or none.
  void Add(const Cell& cell);

  // How a program without Arrow reads it; |row| below size().
  Cell At(size_t row) const;

  // The rows so far as an array that owns them; the builder is empty afterwards, and keeps what its
  // dictionary has.
  void Give(ArrowArray* out);

 private:
  int32_t NumberOf(std::string_view text);
  void AddNull();

  ArrowColumn column_;
  size_t size_ = 0;
  int64_t nulls_ = 0;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  std::vector<int32_t> numbers_;  // of texts of the dictionary
  std::shared_ptr<ArrowTexts> texts_ = std::make_shared<ArrowTexts>();
  std::vector<uint8_t> valid_;  // a bit for each row; empty: all have a value

  // The dictionary. A text that came lately is found by where it lies, and compared.
  struct Lately {
    const char* at = nullptr;
    int32_t number = 0;
  };
  std::unordered_map<std::string, int32_t> by_text_;
  std::array<Lately, 64> lately_{};
};

// Fills |out| with what |columns| are: a struct with a child for each.
void GiveSchema(const std::vector<ArrowColumn>& columns, ArrowSchema* out);

// The rows of all builders, which have as many each.
void GiveRows(std::span<ColumnBuilder> columns, ArrowArray* out);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_COLUMNS_H_
