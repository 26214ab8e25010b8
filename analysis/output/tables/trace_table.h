// SPDX-License-Identifier: Apache-2.0
//
// A run as tables of rows: what `gpubound sql`, the SQLite extension and the exports of tables show
// (docs/formats.md lists them). Rows are made while they are read and never collected.
//
// Thread rule: cursors over one TraceRun are used on one thread at a time.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_TABLE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/output/tables/trace_run.h"

namespace gpubound {

// Of the tables, their columns and what they mean (docs/formats.md).
inline constexpr char kTablesFormat[] = "gpubound.tables.v1";

enum class ColumnType : uint8_t { kInteger, kReal, kText };

// As SQL has it: "INTEGER".
const char* SqlType(ColumnType type);

// What a filter can make use of. kTime is begin and end of what has no length.
enum class ColumnRole : uint8_t { kNone, kProcess, kThread, kBegin, kEnd, kTime, kCorrelation };

struct ColumnInfo {
  const char* name = "";
  ColumnType type = ColumnType::kInteger;
  ColumnRole role = ColumnRole::kNone;
  bool indexed = false;  // worth an index where rows are stored
};

// Nothing is NULL. A text refers to the run or the cursor and is valid until its next Next().
using Cell = std::variant<std::monostate, int64_t, double, std::string_view>;

// What is asked for: rows outside need not come, and may. Limits are inclusive.
struct RowFilter {
  int64_t begin_min_ns = std::numeric_limits<int64_t>::min();
  int64_t begin_max_ns = std::numeric_limits<int64_t>::max();
  int64_t end_min_ns = std::numeric_limits<int64_t>::min();
  int64_t end_max_ns = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> process;  // as in column `process`, from 1
  std::optional<int64_t> thread;   // as in column `thread`, from 1
  std::optional<int64_t> correlation;

  bool TakesProcess(size_t index) const {
    return !process || *process == static_cast<int64_t>(index) + 1;
  }
  bool TakesThread(size_t index) const {
    return !thread || *thread == static_cast<int64_t>(index) + 1;
  }
  // Something in the piece may be asked for.
  bool Takes(const EventPiece& piece) const {
    return piece.max_ns >= begin_min_ns && piece.max_ns >= end_min_ns &&
           piece.min_ns <= begin_max_ns && piece.min_ns <= end_max_ns;
  }
};

class RowCursor {
 public:
  virtual ~RowCursor() = default;
  virtual bool Next() = 0;                   // false at the end
  virtual Cell At(size_t column) const = 0;  // of the row that the last Next() found
};

struct TraceTable {
  const char* name = "";
  const char* summary = "";  // what a row is
  bool of_events = false;    // as long as the run, else as short as a report
  bool of_report = false;    // has no row where TraceRun::report() is null
  std::vector<ColumnInfo> columns;
  std::function<std::unique_ptr<RowCursor>(TraceRun*, const RowFilter&)> open;
};

// In the order in which they are listed.
const std::vector<TraceTable>& AllTraceTables();

// Null where there is none.
const TraceTable* FindTraceTable(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_TABLE_H_
