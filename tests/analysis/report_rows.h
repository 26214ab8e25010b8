// SPDX-License-Identifier: Apache-2.0
//
// Rows of reports that tests make by hand. Pure.
#ifndef GPUBOUND_TESTS_ANALYSIS_REPORT_ROWS_H_
#define GPUBOUND_TESTS_ANALYSIS_REPORT_ROWS_H_

#include <cstdint>
#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// An operation during which the CPU worked throughout, the GPU for |busy_ns|.
inline ReportOperation Row(const std::string& name, int64_t wall_ns, int64_t busy_ns) {
  ReportOperation row;
  row.operation = name;
  row.wall_ns = wall_ns;
  row.gpu_busy_ns = row.cpu_gpu_ns = busy_ns;
  row.cpu_only_ns = wall_ns - busy_ns;
  return row;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_ANALYSIS_REPORT_ROWS_H_
