// SPDX-License-Identifier: Apache-2.0
//
// From summed device work to rows by operator. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_OP_ROWS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_OP_ROWS_H_

#include <vector>

#include "analysis/report/report_work.h"
#include "analysis/sweep/op_book.h"
#include "analysis/trace/device_kind.h"

namespace gpubound {

// Shapes beyond so many are one row of each operator, kOtherShapes.
inline constexpr size_t kMostOpRows = 1000;
inline constexpr char kOtherShapes[] = "(other shapes)";

// A row for each operator, shape and type, the longest first. |peak| of the devices that they ran
// on; null: not known.
std::vector<ReportOp> OpRows(const std::vector<OpTime>& times, const DeviceKind* peak);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_OP_ROWS_H_
