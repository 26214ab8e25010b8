// SPDX-License-Identifier: Apache-2.0
//
// A run as Chrome JSON, for chrome://tracing, Perfetto's UI, and for the importer: what a run has
// of the categories that the importer knows (docs/trace_format.md) comes back with the same cells.
// The rest (layers without a category, phases, counters, arrows from launch to work) is for the
// eye. Written as it is read. One call, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CHROME_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CHROME_H_

#include "analysis/output/export/output_file.h"
#include "analysis/trace/run.h"

namespace gpubound {

void WriteChromeJson(const Run& run, OutputFile* file);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_CHROME_H_
