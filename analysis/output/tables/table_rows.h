// SPDX-License-Identifier: Apache-2.0
//
// How a table is declared: a row as a plain value, a list of columns that say what they take from
// it, and something that makes one row after the other. Each table_*.cc declares some. No state of
// its own; thread rule as in trace_table.h.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_TABLE_ROWS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_TABLE_ROWS_H_

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/output/tables/trace_table.h"

namespace gpubound {

inline constexpr ColumnType kInteger = ColumnType::kInteger;
inline constexpr ColumnType kReal = ColumnType::kReal;
inline constexpr ColumnType kText = ColumnType::kText;

template <typename Row>
struct Column {
  ColumnInfo info;
  Cell (*value)(const Row&);
};

// Integers of any kind, doubles and texts as a cell.
template <typename Value>
Cell ToCell(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return double{value};
  } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
    return static_cast<int64_t>(value);
  } else {
    return std::string_view(value);
  }
}

template <typename Value>
Cell ToCell(const std::optional<Value>& value) {
  return value ? ToCell(*value) : Cell();
}

// NULL for what is "none".
inline Cell TextOrNull(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

// |Rows| has `const Row* Next()`, null at the end.
template <typename Row, typename Rows>
class CursorOf : public RowCursor {
 public:
  CursorOf(const std::vector<Column<Row>>& columns, Rows rows)
      : columns_(columns), rows_(std::move(rows)) {}
  bool Next() override {
    row_ = rows_.Next();
    return row_ != nullptr;
  }
  Cell At(size_t column) const override { return columns_[column].value(*row_); }

 private:
  const std::vector<Column<Row>>& columns_;
  Rows rows_;
  const Row* row_ = nullptr;
};

// |Rows| is made from (TraceRun*, const RowFilter&).
template <typename Row, typename Rows>
TraceTable MakeTable(const char* name, const char* summary, bool of_events,
                     std::vector<Column<Row>> columns) {
  TraceTable table{name, summary, of_events, /*of_report=*/false, {}, {}};
  for (const Column<Row>& column : columns) table.columns.push_back(column.info);
  auto shared = std::make_shared<const std::vector<Column<Row>>>(std::move(columns));
  table.open = [shared](TraceRun* run, const RowFilter& filter) -> std::unique_ptr<RowCursor> {
    return std::make_unique<CursorOf<Row, Rows>>(*shared, Rows(run, filter));
  };
  return table;
}

// Rows that are few: |Collect| is a function (TraceRun*) -> std::vector<Row>.
template <typename Row, auto Collect>
class CollectedRows {
 public:
  CollectedRows(TraceRun* run, const RowFilter&) : rows_(Collect(run)) {}
  const Row* Next() { return next_ < rows_.size() ? &rows_[next_++] : nullptr; }

 private:
  std::vector<Row> rows_;
  size_t next_ = 0;
};

template <typename Row, auto Collect>
TraceTable MakeShortTable(const char* name, const char* summary, std::vector<Column<Row>> columns) {
  return MakeTable<Row, CollectedRows<Row, Collect>>(name, summary, false, std::move(columns));
}

// The declarations, each for some of the tables.
std::vector<TraceTable> ProcessTables();
std::vector<TraceTable> ThreadEventTables();
std::vector<TraceTable> RecordTables();
std::vector<TraceTable> ReportTables();  // with those of the next
std::vector<TraceTable> TrainingTables();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_TABLE_ROWS_H_
