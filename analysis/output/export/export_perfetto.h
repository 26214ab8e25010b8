// SPDX-License-Identifier: Apache-2.0
//
// A run as a Perfetto trace: threads, calls, devices and streams as tracks, scopes and device work
// as slices, counters, and arrows from launch to work. Slices of a track nest: what overlaps on a
// stream or does not nest goes to further tracks of the same name. Written as it is read; memory
// grows with names and tracks, and by a bit for each call. One call, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PERFETTO_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PERFETTO_H_

#include "analysis/output/export/output_file.h"
#include "analysis/trace/run.h"

namespace gpubound {

void WritePerfettoTrace(const Run& run, OutputFile* file);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PERFETTO_H_
