// SPDX-License-Identifier: Apache-2.0
//
// Reads the SQLite export of Nsight Systems: kernels, copies, sets, graphs, CUDA calls, NVTX ranges
// and synchronisations. Its schema differs from version to version, so every table and most columns
// may be missing. No state.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_NSYS_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_NSYS_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/import/foreign_trace.h"

namespace gpubound {

// Adds everything that the export at |path| holds to |trace|.
Status ReadNsysExport(const std::string& path, ForeignTrace* trace);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_NSYS_H_
