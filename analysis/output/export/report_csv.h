// SPDX-License-Identifier: Apache-2.0
//
// The operations of every process as one table of comma-separated values (RFC 4180). Columns are
// added at the end, never renamed (docs/formats.md). Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_REPORT_CSV_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_REPORT_CSV_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

std::string RenderCsv(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_REPORT_CSV_H_
