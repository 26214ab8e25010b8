// SPDX-License-Identifier: Apache-2.0
//
// A table of a run as a Parquet file. One call, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_

#include "analysis/output/export/output_file.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {

// The caller commits |file|.
void WriteParquetTable(const TraceTable& table, TraceRun* run, OutputFile* file);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_
