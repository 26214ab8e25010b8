// SPDX-License-Identifier: Apache-2.0
//
// Tables as Parquet files: those of run_wide_table.h. Of a run of one machine each is TABLE.parquet; of
// several, what is of a machine's processes is in machine=HOST/TABLE.parquet, as readers of partitioned
// data expect it. No state.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/output/tables/run_times.h"
#include "analysis/output/tables/trace_run.h"

namespace gpubound {

inline constexpr char kParquetEnding[] = ".parquet";

// Into |folder|, which is there. |times|: of |run|, or null.
Status WriteParquetTables(TraceRun* run, const RunTimes* times, const std::string& folder);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PARQUET_H_
