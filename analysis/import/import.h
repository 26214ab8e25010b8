// SPDX-License-Identifier: Apache-2.0
//
// Imports a trace that another tool wrote. Which tool is told by the content of the file. One call,
// one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/import/import_run.h"

namespace gpubound {

// Reads |path| (Chrome JSON, plain or gzip, which may be a FIFO or kStandardInput; an Nsight
// Systems SQLite export) and writes it as a run into the existing, empty directory |folder|. On
// failure files of it may be left there. |output_failed|, where it is not null, says whether an
// error is about |folder| rather than |path|.
Result<ImportSummary> ImportTrace(const std::string& path, const std::string& folder,
                                  bool* output_failed = nullptr);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_H_
