// SPDX-License-Identifier: Apache-2.0
//
// What a run would be with parts of it made faster: the same report, of the replayed run, beside
// that of the run as it is; and how the run's time depends on the speed of each part, which is its
// critical path told in what counts. Pure but for reading and a temporary file.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_
#define GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/what_if.h"
#include "analysis/report/what_if_result.h"

namespace gpubound {

// |copies|: up to so many runs like this one, changed, on its GPUs are imagined too; 0: none. Errors
// are those of OpenRun, ReplayRun and BuildReport, and an operation in |changes| that the run does
// not have.
Result<WhatIfReport> ImagineRun(const std::string& path, const ReportOptions& options,
                                const WhatIf& changes, uint32_t copies = 0);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_WHAT_IF_REPORT_H_
