// SPDX-License-Identifier: Apache-2.0
//
// Statistics of iterations. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/report/report.h"
#include "analysis/sweep/iteration_book.h"

namespace gpubound {

// |names| by OperationIndex. Absent without any iteration.
std::optional<ReportIterations> IterationStatistics(const IterationTimes& times,
                                                    const Interval& span,
                                                    const std::vector<std::string>& names);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_
