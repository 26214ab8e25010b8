// SPDX-License-Identifier: Apache-2.0
//
// Which columns a breakdown table has in the room that there is, and how wide its bars are. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_COLUMNS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/output/text/breakdown_rows.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

struct BreakdownColumn {
  std::string_view head;
  int64_t ReportOperation::*value;
  bool ReportOperation::*is_upper_bound = nullptr;
};

struct BreakdownLayout {
  std::vector<BreakdownColumn> columns;
  std::vector<std::string_view> left_out;  // heads for which there is no room
  int bar = 0;                             // columns of a bar; 0: there are none
};

std::string CellOf(const Breakdown& row, const BreakdownColumn& column, const TextOptions& options);

// Those that partition the wall time go before the others, and before them a bar of ten columns
// where the terminal has 80.
BreakdownLayout LayOut(const std::vector<Breakdown>& rows, const TextOptions& options,
                       bool has_gpu);

// How many of |columns| from |first| on, at least one, stand side by side: without --raw all, with
// it as many as there is room for, and the others go beneath them.
size_t ColumnsThatFit(const std::vector<Breakdown>& rows,
                      const std::vector<BreakdownColumn>& columns, size_t first,
                      const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_COLUMNS_H_
