// SPDX-License-Identifier: Apache-2.0
//
// A run in the formats of other tools, one file or folder each, written whole or not at all. What a
// run has lost is added to |problems| of the result. No state; one call, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_H_

#include <string>
#include <vector>

#include "analysis/base/status.h"

namespace gpubound {

enum class ExportFormat {
  kSqlite,      // every table of the run, with indexes
  kCsv,         // every table of the run, a file each
  kParquet,     // likewise
  kChrome,      // events as Chrome JSON
  kPerfetto,    // events as a Perfetto trace
  kPrometheus,  // the report's figures as metrics
  kSpeedscope,  // Python stacks by operation
  kCollapsed,   // likewise, as lines
};

struct ExportOutcome {
  Status status = Ok{};
  bool input_failed = false;          // the error is about the run
  std::vector<std::string> problems;  // what of the run could be read in part only
};

// |replace|: what an earlier export left at |path| may be replaced.
ExportOutcome ExportRunTo(ExportFormat format, const std::string& run_path, const std::string& path,
                          bool replace);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_H_
