// SPDX-License-Identifier: Apache-2.0
//
// Joins a run to the calibration that tells what recording it cost. Reads files.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_RUN_COSTS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_RUN_COSTS_H_

#include <string>

#include "analysis/correction/report_options.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |options| with the costs of |run|, from its own directory or else options.calibration_folder; or
// with the reason why there are none. As they are where they have costs already.
ReportOptions WithCostsOf(const Run& run, ReportOptions options);

// Why |options| have no costs that can be taken out of |process|; empty where they have.
std::string WhyNotCorrected(const ReportOptions& options, const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_RUN_COSTS_H_
