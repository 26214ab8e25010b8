// SPDX-License-Identifier: Apache-2.0
//
// What a run would be with parts of it made faster: the same report, of the replayed run, beside
// that of the run as it is; and how the run's time depends on the speed of each part, which is its
// critical path told in what counts. Pure but for reading and a temporary file.
#ifndef GPUBOUND_ANALYSIS_WHAT_IF_REPORT_H_
#define GPUBOUND_ANALYSIS_WHAT_IF_REPORT_H_

#include <string>

#include "analysis/report_options.h"
#include "analysis/status.h"
#include "analysis/what_if.h"
#include "analysis/what_if_result.h"

namespace gpubound {

// Errors are those of OpenRun, ReplayRun and BuildReport, and an operation in |changes| that the
// run does not have.
Result<WhatIfReport> ImagineRun(const std::string& path, const ReportOptions& options,
                                const WhatIf& changes);


}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_WHAT_IF_REPORT_H_
