// SPDX-License-Identifier: Apache-2.0
//
// The tables of GPU work in an Nsight Systems export: kernels, copies, sets, graphs. No state.
#ifndef GPUBOUND_ANALYSIS_IMPORT_NSYS_WORK_H_
#define GPUBOUND_ANALYSIS_IMPORT_NSYS_WORK_H_

#include "analysis/base/status.h"
#include "analysis/import/import_launches.h"
#include "analysis/import/nsys_export.h"
#include "analysis/import/nsys_target.h"
#include "analysis/segments/sqlite.h"

namespace gpubound {

// Adds all GPU work of |from| to its trace, and which kinds there are to |launches|. |gpus| says
// which GPU a process means by a number.
Status ReadNsysWork(NsysExport* from, const GpuOfOrdinal& gpus, ForeignLaunches* launches);

// Whether a table of GPU work has any row.
bool HasNsysWork(Database* database);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_NSYS_WORK_H_
