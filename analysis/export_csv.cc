// SPDX-License-Identifier: Apache-2.0
//
// Writes tables as CSV. No state.
#include "analysis/export_csv.h"

#include <memory>

#include "analysis/cell_text.h"
#include "analysis/output_file.h"
#include "analysis/trace_table.h"

namespace gpubound {
namespace {

Status WriteTable(const TraceTable& table, TraceRun* run, const std::string& path) {
  const auto file = OutputFile::Create(path, /*replace=*/false);
  if (!file.ok()) return file.error();
  std::string line;
  for (const ColumnInfo& column : table.columns)
    line += (line.empty() ? "" : ",") + std::string(column.name);
  (*file)->Write(line + "\r\n");
  const std::unique_ptr<RowCursor> rows = table.open(run, RowFilter());
  while (rows->Next()) {
    line.clear();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) line += ',';
      line += CsvCell(rows->At(i));
    }
    (*file)->Write(line + "\r\n");
  }
  return (*file)->Commit();
}

}  // namespace

Status WriteCsvTables(const std::string& run_path, const std::string& folder, bool* input_failed,
                      std::vector<std::string>* problems) {
  const Result<std::unique_ptr<TraceRun>> run = TraceRun::Open(run_path);
  *input_failed = !run.ok();
  if (!run.ok()) return run.error();
  for (const TraceTable& table : AllTraceTables()) {
    const Status written = WriteTable(table, run->get(), folder + "/" + table.name + ".csv");
    if (!written.ok()) return written;
  }
  *problems = (*run)->problems();
  return Ok{};
}

}  // namespace gpubound
