// SPDX-License-Identifier: Apache-2.0
//
// A table of a run as comma-separated values (RFC 4180). One call, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CSV_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CSV_H_

#include "analysis/output/export/output_file.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {

// The caller commits |file|.
void WriteCsvTable(const TraceTable& table, TraceRun* run, OutputFile* file);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CSV_H_
