// SPDX-License-Identifier: Apache-2.0
//
// From a foreign trace to a run directory of ours: decides which process each thread and each piece
// of device work belongs to and which thread reports, and writes one segment for each process.
// docs/trace_format.md, "Imported runs", says by which rules. One call, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_RUN_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/foreign_trace.h"

namespace gpubound {

struct ImportSummary {
  uint64_t processes = 0;
  uint64_t cpu_events = 0;
  uint64_t device_events = 0;
  uint64_t malformed = 0;         // events that could not be read
  std::string cut_short;          // where and why the file breaks off; empty where it is whole
  std::vector<std::string> gaps;  // what else is missing, a sentence or more each
};

// Writes |trace|, which is complete and is used up, into the directory |folder|. |path| is the file
// that it came from, for errors.
Result<ImportSummary> WriteImportedRun(ForeignTrace* trace, const std::string& path,
                                       const std::string& folder);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_RUN_H_
