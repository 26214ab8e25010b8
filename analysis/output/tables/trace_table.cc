// SPDX-License-Identifier: Apache-2.0
//
// The list of tables. Built once, on first use.
#include "analysis/output/tables/trace_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/output/tables/table_rows.h"

namespace gpubound {

const char* SqlType(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      break;
    case ColumnType::kReal:
      return "REAL";
    case ColumnType::kText:
      return "TEXT";
  }
  return "INTEGER";
}

const std::vector<TraceTable>& AllTraceTables() {
  static const std::vector<TraceTable> tables = [] {
    std::vector<TraceTable> all;
    for (auto* group : {&ProcessTables, &ThreadEventTables, &RecordTables, &ReportTables}) {
      std::vector<TraceTable> some = group();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return tables;
}

const TraceTable* FindTraceTable(std::string_view name) {
  const std::vector<TraceTable>& tables = AllTraceTables();
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [name](const TraceTable& table) { return name == table.name; });
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace gpubound
