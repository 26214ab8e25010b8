// SPDX-License-Identifier: Apache-2.0
//
// What a run would be with parts of it made faster: the same report, of the replayed run, beside
// that of the run as it is; and how the run's time depends on the speed of each part, which is its
// critical path told in what counts. Pure but for reading and a temporary file.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_
#define GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/correction/move_gpus.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/what_if.h"
#include "analysis/report/what_if_result.h"

namespace gpubound {

struct WhatIfQuestion {
  WhatIf changes = {};
  GpuMove move = {};    // beside these
  uint32_t copies = 0;  // up to so many runs like this one, changed, on its GPUs; 0: not asked
};

// Adds to |question| what a user wrote: |scalings| as ParseScaling takes them, |gpu| as ParseGpu,
// |move| as ParseGpuMove; these two may be empty.
Status AddWords(const std::vector<std::string>& scalings, const std::string& gpu,
                const std::string& move, WhatIfQuestion* question);

// Errors are those of OpenRun, ReplayRun, BuildReport and ResizeRoles, and an operation in |changes|
// that the run does not have.
Result<WhatIfReport> ImagineRun(const std::string& path, const ReportOptions& options,
                                const WhatIfQuestion& question);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_
