// SPDX-License-Identifier: Apache-2.0
//
// What an Nsight Systems export says about the machine: host, begin of the session, names of the
// processes, GPUs. All of it may be missing. No state.
#ifndef GPUBOUND_ANALYSIS_IMPORT_NSYS_TARGET_H_
#define GPUBOUND_ANALYSIS_IMPORT_NSYS_TARGET_H_

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/base/status.h"
#include "analysis/import/nsys_export.h"

namespace gpubound {

// By (pid, CUDA ordinal) the GPU: each process numbers the devices that it may see.
using GpuOfOrdinal = std::map<std::pair<int64_t, int64_t>, uint32_t>;

// Adds what there is to the trace of |from| and to |gpus|. An error where a table cannot be read:
// devices would be taken for one another.
Status ReadNsysTarget(NsysExport* from, GpuOfOrdinal* gpus);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_NSYS_TARGET_H_
