// SPDX-License-Identifier: Apache-2.0
//
// Adds columns to rows. No state.
#include "analysis/output/tables/run_wide_table.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace gpubound {
namespace {

constexpr char kRunPrefix[] = "run_";

std::optional<int64_t> Integer(const Cell& cell) {
  const auto* integer = std::get_if<int64_t>(&cell);
  return integer != nullptr ? std::optional(*integer) : std::nullopt;
}

}  // namespace

size_t ProcessOfRow(const RowCursor& row, size_t process_column) {
  return static_cast<size_t>(Integer(row.At(process_column)).value_or(1) - 1);
}

class RunWideCursor : public RowCursor {
 public:
  RunWideCursor(const RunWideTable& table, TraceRun* run, const RunTimes* times)
      : table_(table), run_(*run), times_(times), rows_(table.table_.open(run, RowFilter())) {}

  bool Next() override {
    if (!rows_->Next()) return false;
    if (table_.process_column_) process_ = ProcessOfRow(*rows_, *table_.process_column_);
    return true;
  }

  Cell At(size_t column) const override {
    const RunWideTable::Source& source = table_.sources_[column];
    switch (source.kind) {
      case RunWideTable::Kind::kCell:
        return rows_->At(source.column);
      case RunWideTable::Kind::kHost:
        return std::string_view(run_.process(process_).identity.host);
      case RunWideTable::Kind::kRank: {
        const auto& job = run_.process(process_).job;
        return job ? Cell(job->rank) : Cell();
      }
      case RunWideTable::Kind::kRunTime: {
        const std::optional<int64_t> time = Integer(rows_->At(source.column));
        return time && times_ != nullptr ? Cell(times_->At(process_, *time)) : Cell();
      }
    }
    return {};
  }

 private:
  const RunWideTable& table_;
  const TraceRun& run_;
  const RunTimes* const times_;
  const std::unique_ptr<RowCursor> rows_;
  size_t process_ = 0;
};

RunWideTable::RunWideTable(const TraceTable& table) : table_(table) {
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const ColumnInfo& column = table.columns[c];
    columns_.push_back(column);
    sources_.push_back({Kind::kCell, c});
    if (column.role != ColumnRole::kProcess) continue;
    process_column_ = c;
    if (!Has("host")) Add("host", ColumnType::kText, {Kind::kHost, c});
    if (!Has("rank")) Add("rank", ColumnType::kInteger, {Kind::kRank, c});
  }
  if (!process_column_) return;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = table.columns[c].name;
    if (name == "begin_ns" || name == "end_ns" || name == "time_ns") {
      Add(kRunPrefix + name, ColumnType::kInteger, {Kind::kRunTime, c});
    }
  }
}

// Whether the table has such a column of its own.
bool RunWideTable::Has(const std::string& name) const {
  return std::any_of(table_.columns.begin(), table_.columns.end(),
                     [&](const ColumnInfo& column) { return column.name == name; });
}

void RunWideTable::Add(const std::string& name, ColumnType type, Source source) {
  columns_.push_back({names_.emplace_back(name).c_str(), type});
  sources_.push_back(source);
}

std::unique_ptr<RowCursor> RunWideTable::Open(TraceRun* run, const RunTimes* times) const {
  return std::make_unique<RunWideCursor>(*this, run, times);
}

}  // namespace gpubound
