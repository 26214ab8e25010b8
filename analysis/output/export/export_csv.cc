// SPDX-License-Identifier: Apache-2.0
//
// Writes a table as CSV. No state.
#include "analysis/output/export/export_csv.h"

#include <memory>
#include <string>

#include "analysis/output/export/cell_text.h"

namespace gpubound {

void WriteCsvTable(const TraceTable& table, TraceRun* run, OutputFile* file) {
  std::string line;
  for (const ColumnInfo& column : table.columns)
    line += (line.empty() ? "" : ",") + std::string(column.name);
  file->Write(line + "\r\n");
  const std::unique_ptr<RowCursor> rows = table.open(run, RowFilter());
  while (rows->Next()) {
    line.clear();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) line += ',';
      line += CsvCell(rows->At(i));
    }
    file->Write(line + "\r\n");
  }
}

}  // namespace gpubound
