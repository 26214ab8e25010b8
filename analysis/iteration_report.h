// SPDX-License-Identifier: Apache-2.0
//
// Statistics of iterations. Pure.
#ifndef GPUBOUND_ANALYSIS_ITERATION_REPORT_H_
#define GPUBOUND_ANALYSIS_ITERATION_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/interval.h"
#include "analysis/iteration_book.h"
#include "analysis/report.h"

namespace gpubound {

// |names| by OperationIndex. Absent without any iteration.
std::optional<ReportIterations> IterationStatistics(const IterationTimes& times,
                                                    const Interval& span,
                                                    const std::vector<std::string>& names);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ITERATION_REPORT_H_
