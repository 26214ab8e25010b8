// SPDX-License-Identifier: Apache-2.0
//
// A table with what tells its rows apart among the machines of a run: to one that is about processes come
// `host` and `rank`, and beside each of its trace times the same on the run's own clock (run_begin_ns,
// run_end_ns, run_time_ns). Immutable; any thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_WIDE_TABLE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_WIDE_TABLE_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/output/tables/run_times.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {

class RunWideTable {
 public:
  // |table| outlives the object.
  explicit RunWideTable(const TraceTable& table);
  RunWideTable(const RunWideTable&) = delete;
  RunWideTable& operator=(const RunWideTable&) = delete;

  const TraceTable& table() const { return table_; }
  const std::vector<ColumnInfo>& columns() const { return columns_; }

  // Whether that column needs the run's clock.
  bool IsRunTime(size_t column) const { return sources_[column].kind == Kind::kRunTime; }

  // Where column `process` stands; absent: the table is of no process.
  const std::optional<size_t>& process_column() const { return process_column_; }

  // |times|: of |run|; null: the run's clock is not known. All outlive the cursor.
  std::unique_ptr<RowCursor> Open(TraceRun* run, const RunTimes* times) const;

 private:
  friend class RunWideCursor;
  enum class Kind : uint8_t { kCell, kHost, kRank, kRunTime };
  struct Source {
    Kind kind;
    size_t column;  // of the table
  };
  void Add(const std::string& name, ColumnType type, Source source);
  bool Has(const std::string& name) const;

  const TraceTable& table_;
  std::deque<std::string> names_;
  std::vector<ColumnInfo> columns_;
  std::vector<Source> sources_;
  std::optional<size_t> process_column_;
};

// The number here of the process that a row is of, by its column `process`.
size_t ProcessOfRow(const RowCursor& row, size_t process_column);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_WIDE_TABLE_H_
