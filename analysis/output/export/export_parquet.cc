// SPDX-License-Identifier: Apache-2.0
//
// Writes a table as Parquet. No state.
#include "analysis/output/export/export_parquet.h"

#include <memory>

#include "analysis/output/export/parquet_file.h"

namespace gpubound {

void WriteParquetTable(const TraceTable& table, TraceRun* run, OutputFile* file) {
  ParquetFile parquet(table.columns, file);
  const std::unique_ptr<RowCursor> rows = table.open(run, RowFilter());
  while (rows->Next()) parquet.AddRow(*rows);
  parquet.Finish({{"gpubound.format", kTablesFormat},
                  {"gpubound.version", GPUBOUND_VERSION},
                  {"gpubound.table", table.name}});
}

}  // namespace gpubound
