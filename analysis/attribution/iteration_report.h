// SPDX-License-Identifier: Apache-2.0
//
// Statistics of iterations. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_

#include <optional>

#include "analysis/base/interval.h"
#include "analysis/report/report.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// Absent without any iteration.
std::optional<ReportIterations> IterationStatistics(const IterationTimes& times,
                                                    const Interval& span, const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ITERATION_REPORT_H_
