// SPDX-License-Identifier: Apache-2.0
//
// Reads Chrome JSON as PyTorch's profiler (Kineto) writes it, plain or gzip, for CUDA and HIP. What
// each category of events becomes is in docs/trace_format.md. No state.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_CHROME_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_CHROME_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/import/foreign_trace.h"
#include "analysis/import/import_source.h"

namespace gpubound {

// Adds everything that |source| holds to |trace|. |path| is for errors.
Status ReadChromeTrace(ByteSource* source, const std::string& path, ForeignTrace* trace);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_CHROME_H_
